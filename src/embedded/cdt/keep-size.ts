import { encodedSize, headerSize } from '../value/encoded-size.js'
import type { Value } from '../value/value.js'
import type { Container } from './operation.js'

/** Carries a known encoded size over to the changed container, so that only what changed is measured. */
export function keepSize<C extends Container>(
  before: C,
  after: C,
  removed: readonly Value[],
  added: readonly Value[],
): C {
  if (before.size < 0) return after
  let size = before.size - headerSize(before) + headerSize(after)
  for (const value of removed) size -= encodedSize(value)
  for (const value of added) size += encodedSize(value)
  after.size = size
  return after
}
