import { hasByteKeys, typedBins } from '../byte-keys.js'
import type { EntityModel } from '../model.js'
import type { Problems } from './problems.js'

/**
 * Records with a map whose keys are bytes are read as raw bytes, where a list looks like a value of type bytes: the class must say which of
 * the two each bin holds.
 */
export function checkByteKeys(entities: Iterable<EntityModel>, problems: Problems): void {
  const all = [...entities]
  const sets = new Set(all.filter(hasByteKeys).map(({ set }) => set))
  for (const set of sets) checkFamily(set, all, problems)
}

function checkFamily(set: string, all: readonly EntityModel[], problems: Problems): void {
  const kinds = new Map<string, { readonly isBytes: boolean; readonly className: string }>()
  for (const entity of all.filter((each) => each.set === set)) {
    const { name: className } = entity
    for (const { property, bin, type } of typedBins(entity)) {
      const isBytes = type.kind === 'bytes'
      const other = kinds.get(bin)
      if (type.kind === 'custom') {
        const message = `Its codec may store bytes or a list, which look alike in the set '${set}', whose records have a map with bytes as keys.`
        const fix = 'Declare a type without a codec, or store the map in another class, or with text as keys.'
        problems.add('SKEIN_1022', { className, property }, message, fix)
      } else if (other !== undefined && other.isBytes !== isBytes) {
        const message = `The bin '${bin}' holds bytes in one class of the set '${set}' and not in ${other.className}; beside a map with bytes as keys they cannot be told apart.`
        problems.add('SKEIN_1022', { className, property }, message, "Give it another bin with the option name: '…'.")
      }
      if (other === undefined) kinds.set(bin, { isBytes, className })
    }
  }
}
