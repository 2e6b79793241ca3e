import { tokenOf, type LoadedPart } from '../codec/index.js'
import type { MapKey } from '../plan/value.js'
import type { Change } from './change.js'
import { deleteEntry } from './place.js'

/** Shows a change in a property that was read in part; what was not read stays out of sight. */
export function applyToPart(part: LoadedPart, value: unknown, change: Change): unknown {
  if (part.kind === 'slice') return isAppended(part, change) ? change.apply(value) : value
  const before = new Set(keysOf(value))
  const wanted = new Set<unknown>(part.fields ?? [...part.keys].map(tokenOf))
  const changed = change.apply(value)
  for (const key of keysOf(changed))
    if (!before.has(key) && !wanted.has(tokenOf(key as MapKey))) deleteEntry(changed, key)
  if (part.fields === undefined) return changed
  // A part shows all of its fields; those that were not read must stay empty.
  const fields = changed as Record<string, unknown>
  for (const name of Object.keys(fields)) if (!wanted.has(name)) fields[name] = undefined
  return changed
}

function isAppended({ offset, count }: { offset: number; count: number }, { operation }: Change): boolean {
  return offset < 0 && offset + count === 0 && operation.kind === 'listAppend' && (operation.path ?? []).length === 0
}

function keysOf(container: unknown): readonly unknown[] {
  if (container instanceof Map) return [...container.keys()]
  return typeof container === 'object' && container !== null ? Object.keys(container) : []
}
