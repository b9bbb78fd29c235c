// Removes the builds of Temporal's native library for other platforms, and its Rust sources, from node_modules: 115 of 148 MB that
// nothing on this machine can load. `npm ci` runs this through the `prepare` script, and the image's build calls it.
import * as fs from 'node:fs';

const folder = new URL('../node_modules/@temporalio/core-bridge/', import.meta.url);
// Named after Rust's targets: see `getPrebuiltTargetName` in the package.
const processor = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
const platform = process.platform === 'darwin' ? 'apple-darwin' : 'unknown-linux-gnu';

for (const target of fs.readdirSync(new URL('releases/', folder))) {
  if (target !== `${processor}-${platform}`) fs.rmSync(new URL(`releases/${target}`, folder), { recursive: true });
}
fs.rmSync(new URL('sdk-core', folder), { recursive: true, force: true });
