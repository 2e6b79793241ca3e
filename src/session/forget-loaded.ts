import { loadedSet } from '../codec/index.js'
import type { ManagedEntity } from './tracking/managed-entity.js'

/** Makes properties count as not loaded, because the server has changed or will change them: no stale value is written back. */
export function forgetLoaded(managed: ManagedEntity, stale: ReadonlySet<string>, version = managed.version): void {
  const { model, loaded, stored } = managed
  if (stored === undefined) return
  const names = loaded ?? [...model.properties, ...model.relations].map(({ name }) => name)
  const parts = new Map([...(loaded?.parts ?? [])].filter(([name]) => !stale.has(name)))
  const kept = [...names].filter((name) => !stale.has(name))
  managed.learn(stored.completed(stale.size === 0 ? loaded : loadedSet(kept, parts), version, managed.ttl))
}
