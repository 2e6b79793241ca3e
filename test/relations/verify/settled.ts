import type { VerifyOptions } from 'skein'
import type { TestServer } from '../../server.js'

/** Lets all records be old enough to be judged: the embedded server's clock goes on; elsewhere verify is told to judge everything. */
export async function settled(server: TestServer): Promise<Pick<VerifyOptions, 'settle'>> {
  if (server.embedded === undefined) return { settle: 0 }
  await server.embedded.clock.advance(10)
  return {}
}
