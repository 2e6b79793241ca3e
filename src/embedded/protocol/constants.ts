/** The numbers of the wire protocol. */

export const PROTOCOL_VERSION = 2
export const FRAME_HEADER = 8
export const MESSAGE_HEADER = 22

export const FrameType = { INFO: 1, SECURITY: 2, MESSAGE: 3, COMPRESSED: 4 } as const

export const Info1 = { READ: 0x01, GET_ALL: 0x02, SHORT_QUERY: 0x04, BATCH: 0x08, NO_BINS: 0x20 } as const

export const Info2 = {
  WRITE: 0x01,
  DELETE: 0x02,
  GENERATION: 0x04,
  GENERATION_GT: 0x08,
  DURABLE_DELETE: 0x10,
  CREATE_ONLY: 0x20,
  RELAXED_QUERY: 0x40,
  RESPOND_ALL: 0x80,
} as const

export const Info3 = {
  LAST: 0x01,
  PARTITION_DONE: 0x04,
  UPDATE_ONLY: 0x08,
  CREATE_OR_REPLACE: 0x10,
  REPLACE_ONLY: 0x20,
} as const

export const Info4 = { VERIFY_READ: 0x01, ROLL_FORWARD: 0x02, ROLL_BACK: 0x04, ON_LOCKING_ONLY: 0x10 } as const

export const FieldId = {
  NAMESPACE: 0,
  SET: 1,
  KEY: 2,
  RECORD_VERSION: 3,
  DIGEST: 4,
  TXN_ID: 5,
  TXN_DEADLINE: 6,
  TASK_ID: 7,
  PID_ARRAY: 11,
  DIGEST_ARRAY: 12,
  MAX_RECORDS: 13,
  BVAL_ARRAY: 15,
  INDEX_NAME: 21,
  INDEX_RANGE: 22,
  INDEX_CONTEXT: 23,
  INDEX_EXPRESSION: 24,
  INDEX_TYPE: 26,
  UDF_PACKAGE: 30,
  UDF_OPERATION: 33,
  BATCH: 41,
  FILTER: 43,
} as const

export const OpCode = {
  READ: 1,
  WRITE: 2,
  CDT_READ: 3,
  CDT_MODIFY: 4,
  INCREMENT: 5,
  EXP_READ: 7,
  EXP_MODIFY: 8,
  APPEND: 9,
  PREPEND: 10,
  TOUCH: 11,
  BITS_READ: 12,
  BITS_MODIFY: 13,
  DELETE: 14,
  HLL_READ: 15,
  HLL_MODIFY: 16,
} as const

export const DIGEST_SIZE = 20
export const PARTITIONS = 4096
export const MAX_BIN_NAME = 15
/** Operations of one command. */
export const MAX_OPS = 32 * 1024
export const MAX_SET_NAME = 63
