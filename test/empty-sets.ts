import type { Database } from 'skein'
import { isNamedServer } from './server.js'

type Class = Parameters<Database['truncate']>[0]

const PATIENCE = 500

/** Empties the sets of these classes. A cluster may do that after its answer: this waits until nothing is left. */
export async function emptySets(db: Database, classes: readonly Class[]): Promise<void> {
  // A subclass shares the set of its base class.
  const bases = classes.filter((each) => db.model.entity(each).base === undefined)
  await Promise.all(bases.map((each) => db.truncate(each)))
  if (!isNamedServer) return
  for (const each of classes) {
    const { namespace, set } = db.model.entity(each)
    for (let tries = 0; (await db.client.query(namespace, set).results()).length > 0; tries++) {
      if (tries === PATIENCE) throw new Error(`The set '${set}' is not empty ${PATIENCE * 20} ms after its truncation.`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
