// After `npm ci`: puts Claude Code's native program in place, which npm skips where install scripts are off.
// Needs node alone. `make test-agents` runs it.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const modules = join(dirname(fileURLToPath(import.meta.url)), "node_modules");
const install = join(modules, "@anthropic-ai", "claude-code", "install.cjs");
if (!existsSync(install)) {
  console.error(`${install} is not there: run \`npm ci\` in this folder first`);
  process.exit(1);
}
const done = spawnSync(process.execPath, [install], { stdio: "inherit" });
process.exit(done.status ?? 1);
