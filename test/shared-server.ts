import { startTestServer, type TestServer } from './server.js'

let starting: Promise<TestServer> | undefined

/** One server for the behaviour tests of this process. What a test changes of it, faults and all, it changes back. */
export function sharedServer(): Promise<TestServer> {
  starting ??= startTestServer()
  return starting
}

after(async () => {
  await (await starting)?.stop()
  starting = undefined
})
