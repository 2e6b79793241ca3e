import { CommandError, ResultCode } from '../protocol/result-code.js'

export function malformedRegex(message: string): CommandError {
  return new CommandError(ResultCode.PARAMETER, message)
}
