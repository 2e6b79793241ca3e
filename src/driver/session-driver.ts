import { commandChannel, inSession } from './events.js'
import type { Driver } from './driver.js'

type Call = (...args: unknown[]) => unknown

/** The driver for one session; while somebody listens, events of its commands name the session. */
export function driverOf(driver: Driver, session: number): Driver {
  if (!commandChannel.hasSubscribers) return driver
  return new Proxy(driver, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        const made = inSession(session, () => (value as Call).apply(target, args))
        return isGenerator(made) ? steppedIn(session, made) : made
      }
    },
  })
}

/** A generator works in the context of whoever asks for the next value. */
function steppedIn(session: number, steps: AsyncGenerator): AsyncGenerator {
  const named: AsyncGenerator = {
    next: () => inSession(session, () => steps.next()),
    return: (value) => inSession(session, () => steps.return(value)),
    throw: (error) => inSession(session, () => steps.throw(error)),
    [Symbol.asyncIterator]: () => named,
  }
  return named
}

const isGenerator = (value: unknown): value is AsyncGenerator =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value
