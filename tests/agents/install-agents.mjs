// After npm has put the agents into a folder: puts the native programs in place of those that need it, which npm
// skips where install scripts are off. `node install-agents.mjs [FOLDER]`; without one, the folder of this file.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.argv[2] ?? dirname(fileURLToPath(import.meta.url));
for (const script of ["@anthropic-ai/claude-code/install.cjs", "opencode-ai/postinstall.mjs"]) {
  const install = join(folder, "node_modules", script);
  if (!existsSync(install)) {
    console.error(`${install} is not there: let npm install the agents first`);
    process.exit(1);
  }
  const done = spawnSync(process.execPath, [install], { stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}
