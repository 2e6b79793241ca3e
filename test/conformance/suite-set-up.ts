import { createRequire } from 'node:module'
import { join } from 'node:path'

/** The parts we use of the suite's helper. */
interface SuiteHelper {
  readonly cluster: { readonly build: string; readonly namespaceInfo: { readonly config?: unknown } }
  readonly udf: { register: () => Promise<void>; remove: () => Promise<void> }
}

// Mocha loads this file before the test file, with the folder of the suite as working folder.
const helper = createRequire(join(process.cwd(), 'test', 'any.js'))('./test_helper.js') as SuiteHelper

/** The helper asks for the server's version and does not wait for it; tests that depend on it would be skipped. */
before(async () => {
  while (helper.cluster.build === '' || helper.cluster.namespaceInfo.config === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
})

// Whole files register Lua functions first. There are none here, and only the tests that call them should fail.
helper.udf.register = helper.udf.remove = () => Promise.resolve()
