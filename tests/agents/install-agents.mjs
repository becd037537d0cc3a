// After npm has put agents into a folder: puts the native programs in place of those that need it, which npm skips
// where install scripts are off. `node install-agents.mjs [FOLDER]`; without one, the folder of this file.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.argv[2] ?? dirname(fileURLToPath(import.meta.url));
const scripts = ["@anthropic-ai/claude-code/install.cjs", "opencode-ai/postinstall.mjs"]
  .map((script) => join(folder, "node_modules", script))
  .filter(existsSync);
if (scripts.length === 0) {
  console.error(`no agent that needs installing is in ${folder}: let npm install the agents first`);
  process.exit(1);
}
for (const script of scripts) {
  const done = spawnSync(process.execPath, [script], { stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}
