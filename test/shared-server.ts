import { startTestServer, type TestServer } from './server.js'

let starting: Promise<TestServer> | undefined

/**
 * The server for the behaviour tests of this process; it stays when one of them stops it. Each test empties the sets it uses, or takes
 * keys and sets of its own, and takes its faults away. Its clock may have been moved forward.
 */
export async function sharedServer(): Promise<TestServer> {
  starting ??= startTestServer()
  return { ...(await starting), stop: () => Promise.resolve() }
}

after(async () => {
  await (await starting)?.stop()
  starting = undefined
})
