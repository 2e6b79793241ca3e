import { SkeinError } from '../errors/index.js'
import { Session } from './session.js'

type Call = (this: Session, ...args: unknown[]) => Promise<unknown>

const CALLS = [
  'load',
  'find',
  'loadMany',
  'findMany',
  'linkOf',
  'findPart',
  'loadPart',
  'save',
  'upsert',
  'operate',
  'delete',
  'flush',
  'refresh',
  'transaction',
  'verify',
  'explain',
] as const

/**
 * A session whose errors show where it was called: they are made when the server has answered, and the stack of the caller is gone by
 * then. Looking at the stack costs some microseconds a call, so production does without.
 */
export class TracedSession extends Session {}

for (const name of CALLS) {
  const call = Reflect.get(Session.prototype, name) as Call
  const traced: Call = function (...args) {
    const caller: { stack?: string } = {}
    Error.captureStackTrace(caller, traced)
    return call.apply(this, args).catch((error: unknown) => {
      addCaller(error, caller.stack)
      throw error
    })
  }
  Object.defineProperty(TracedSession.prototype, name, { value: traced, writable: true, configurable: true })
}

const seen = new WeakSet<object>()

function addCaller(error: unknown, stack: string | undefined): void {
  if (!(error instanceof SkeinError) || stack === undefined || seen.has(error)) return
  seen.add(error)
  const frames = stack.slice(stack.indexOf('\n') + 1)
  // An error that was thrown at once has the caller in its stack already.
  if (!error.stack?.includes(frames.split('\n')[0])) error.stack = `${error.stack}\n${frames}`
}
