/** Result codes a server answers with. */
export const ResultCode = {
  OK: 0,
  UNKNOWN: 1,
  NOT_FOUND: 2,
  GENERATION: 3,
  PARAMETER: 4,
  EXISTS: 5,
  BIN_EXISTS: 6,
  TIMEOUT: 9,
  PARTITION_UNAVAILABLE: 11,
  INCOMPATIBLE_TYPE: 12,
  RECORD_TOO_BIG: 13,
  KEY_BUSY: 14,
  UNSUPPORTED: 16,
  BIN_NOT_FOUND: 17,
  DEVICE_OVERLOAD: 18,
  KEY_MISMATCH: 19,
  NAMESPACE_NOT_FOUND: 20,
  BIN_NAME: 21,
  FORBIDDEN: 22,
  ELEMENT_NOT_FOUND: 23,
  ELEMENT_EXISTS: 24,
  ENTERPRISE_ONLY: 25,
  NOT_APPLICABLE: 26,
  FILTERED_OUT: 27,
  TXN_BLOCKED: 120,
  TXN_VERSION_MISMATCH: 121,
  TXN_EXPIRED: 122,
  TXN_TOO_MANY_WRITES: 123,
  TXN_COMMITTED: 124,
  TXN_ABORTED: 125,
  TXN_ALREADY_LOCKED: 126,
  TXN_MONITOR_EXISTS: 127,
  BATCH_TOO_MANY: 151,
  INDEX_EXISTS: 200,
  INDEX_NOT_FOUND: 201,
  INDEX_NOT_READABLE: 203,
} as const

/** Ends a command with a result code; the code is all that a client ever sees of it. */
export class CommandError extends Error {
  constructor(
    readonly code: number,
    message = `result code ${code}`,
  ) {
    super(message)
    this.name = 'CommandError'
  }
}
