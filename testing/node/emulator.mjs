// Starts a server from Node, for tests that do not run below exec. docs/ci.md says more.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const binary = process.env.SCRIBE_BINARY || "scribe-emulator";

/** Starts an emulator; resolves to its base URL and a function that ends it. */
export async function startEmulator() {
  const readyFile = join(mkdtempSync(join(tmpdir(), "scribe-")), "ready.json");
  const server = spawn(binary, [
    "serve", "--port", "0", "--ephemeral", "--ready-file", readyFile, "--exit-with-parent", String(process.pid),
  ], { stdio: "ignore" });
  const exit = once(server, "exit");
  const stop = () => { server.kill(); return exit; };
  try {
    execFileSync(binary, ["ready", "--wait", "--ready-file", readyFile]);
    return { baseURL: JSON.parse(readFileSync(readyFile, "utf8")).base_url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
