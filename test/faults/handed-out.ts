import type { Session } from 'skein'

/** The entities that a session gives to its user from now on. */
export function handedOut(session: Session): ReadonlySet<object> {
  const entities = new Set<object>()
  const note = <T>(entity: T): T => {
    if (typeof entity === 'object' && entity !== null) entities.add(entity)
    return entity
  }
  const [load, find, persist] = [session.load.bind(session), session.find.bind(session), session.persist.bind(session)]
  session.load = async (...args) => note(await load(...args))
  session.find = async (...args) => note(await find(...args))
  session.persist = (...args) => note(persist(...args))
  return entities
}
