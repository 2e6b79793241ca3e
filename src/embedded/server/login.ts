import { FrameType, PROTOCOL_VERSION } from '../protocol/constants.js'

const BODY_SIZE = 16
const SECURITY_NOT_SUPPORTED = 51
const SECURITY_NOT_ENABLED = 52

/**
 * Answers a login, although there are no users here. An enterprise server without security says so, and the client
 * goes on without a login; a community server does not know the request, and the client gives up.
 */
export function answerLogin(enterprise: boolean): Buffer {
  const reply = Buffer.alloc(8 + BODY_SIZE)
  reply[0] = PROTOCOL_VERSION
  reply[1] = FrameType.SECURITY
  reply.writeUIntBE(BODY_SIZE, 2, 6)
  reply[9] = enterprise ? SECURITY_NOT_ENABLED : SECURITY_NOT_SUPPORTED
  return reply
}
