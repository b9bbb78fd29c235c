// Removes from node_modules what nothing on this machine reads: the source maps of packages (50 MB), and of Temporal's native library the
// builds for other platforms and the Rust sources (115 MB). `npm ci` runs this through the `prepare` script, and the image's build calls it.
import * as fs from 'node:fs';
import { join } from 'node:path';

process.chdir(join(import.meta.dirname, '..'));

const native = 'node_modules/@temporalio/core-bridge';
// Named after Rust's targets: see `getPrebuiltTargetName` in the package.
const processor = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
const platform = process.platform === 'darwin' ? 'apple-darwin' : 'unknown-linux-gnu';
for (const target of fs.readdirSync(`${native}/releases`)) {
  if (target !== `${processor}-${platform}`) fs.rmSync(`${native}/releases/${target}`, { recursive: true });
}
fs.rmSync(`${native}/sdk-core`, { recursive: true, force: true });

for (const entry of fs.readdirSync('node_modules', { recursive: true, withFileTypes: true })) {
  if (entry.isFile() && entry.name.endsWith('.map')) fs.rmSync(join(entry.parentPath, entry.name));
}
