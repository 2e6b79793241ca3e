import { BUG_CODES } from './bug-codes.js'
import { DATA_CODES } from './data-codes.js'
import { MODEL_CODES } from './model-codes.js'
import { SERVER_CODES } from './server-codes.js'
import { USE_CODES } from './use-codes.js'

/** Every code with its one-line title; each has an entry in docs/reference/errors.md. */
export const ERROR_CODES = { ...MODEL_CODES, ...USE_CODES, ...DATA_CODES, ...SERVER_CODES, ...BUG_CODES } as const

export type ErrorCode = keyof typeof ERROR_CODES
export type ModelErrorCode = keyof typeof MODEL_CODES
