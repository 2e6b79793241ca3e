/** The result codes the driver acts on; see docs/internals/driver.md. */
export const CODE = {
  OK: 0,
  NOT_FOUND: 2,
  GENERATION: 3,
  INVALID: 4,
  EXISTS: 5,
  OUT_OF_SPACE: 8,
  TIMEOUT: 9,
  PARTITION_UNAVAILABLE: 11,
  WRONG_TYPE: 12,
  TOO_BIG: 13,
  KEY_BUSY: 14,
  OVERLOAD: 18,
  FORBIDDEN: 22,
  ENTERPRISE_ONLY: 25,
  NOT_APPLICABLE: 26,
  FILTERED_OUT: 27,
  TXN_BLOCKED: 120,
  TXN_VERSION_MISMATCH: 121,
  TXN_EXPIRED: 122,
  TXN_TOO_MANY_WRITES: 123,
  TXN_ABORTED: 125,
  INDEX_NOT_FOUND: 201,
  INDEX_NOT_READABLE: 203,
  PARAM: -2,
  TLS: -9,
  NO_NODE: -8,
  NO_RESPONSE: -15,
  TXN_FAILED: -17,
} as const

// Lost connections, time-outs and missing nodes as the client reports them.
const NO_ANSWER = new Set([CODE.TIMEOUT, -5, -6, CODE.NO_NODE, CODE.TLS, -10, -12, -14, -15])
// Refused before anything happened: the server has no capacity now.
const BUSY = new Set([CODE.KEY_BUSY, CODE.OVERLOAD, 152])
// Not even sent: the client has no free connection or queue place.
const NO_ROOM = new Set([-7, -11])

export const isNoAnswer = (code: number): boolean => NO_ANSWER.has(code)
export const isBusy = (code: number): boolean => BUSY.has(code)
export const isWithoutRoom = (code: number): boolean => NO_ROOM.has(code)

/** True when a later try of the same command may succeed. */
export const isTransient = (code: number): boolean =>
  isNoAnswer(code) ||
  isBusy(code) ||
  isWithoutRoom(code) ||
  code === CODE.TXN_BLOCKED ||
  code === CODE.PARTITION_UNAVAILABLE

/** True when the whole transaction must be repeated. */
export const isTransactionConflict = (code: number): boolean =>
  code === CODE.TXN_BLOCKED ||
  code === CODE.TXN_VERSION_MISMATCH ||
  code === CODE.TXN_EXPIRED ||
  code === CODE.TXN_FAILED ||
  code === CODE.TXN_ABORTED

const LOGIN = new Set([51, 52, 53, 54, 55, 56, 60, 61, 62, 63, 64, 65, 66, 80])
export const isLogin = (code: number): boolean => LOGIN.has(code)
export const isPermission = (code: number): boolean => code >= 80 && code <= 83
