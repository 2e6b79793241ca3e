import type { EntityModel } from './model.js'
import { DELETING_BIN } from './reserved-bins.js'

/** Deleted entities that a call shows: with the others, or alone. Unless given, it shows none. */
export type DeletedMode = 'include' | 'only'

/** For calls that may show entities of a class with `@DeletedAt` after their delete. */
export interface DeletedOption {
  /** Shows deleted entities too (`'include'`), or only them (`'only'`). For classes with `@DeletedAt`. */
  readonly deleted?: DeletedMode
}

const deletedBins = new WeakMap<EntityModel, string | undefined>()

/** The bin that a soft delete writes; undefined for a class whose deletes remove the record. */
export function deletedBinOf(model: EntityModel): string | undefined {
  // Of several classes, only the one that a key names has such a bin.
  if (model.deletedAt === undefined || model.several !== undefined) return undefined
  if (!deletedBins.has(model))
    deletedBins.set(model, model.properties.find(({ name }) => name === model.deletedAt)!.bin)
  return deletedBins.get(model)
}

/** Bins with which a record counts as gone: its delete has begun, or it was deleted softly. */
export function goneBinsOf(model: EntityModel): readonly string[] {
  const bin = deletedBinOf(model)
  return bin === undefined ? GONE : [DELETING_BIN, bin]
}
const GONE: readonly string[] = [DELETING_BIN]

/** True for a record that nothing may be linked to. */
export function isGoneBy(model: EntityModel, bins: { readonly [bin: string]: unknown }): boolean {
  return goneBinsOf(model).some((bin) => (bins[bin] ?? null) !== null)
}

/** True where a call with that mode shows a record with these bins. */
export function isShown(
  model: EntityModel,
  bins: { readonly [bin: string]: unknown },
  mode: DeletedMode | undefined,
): boolean {
  const bin = deletedBinOf(model)
  const isDeleted = bin !== undefined && (bins[bin] ?? null) !== null
  return mode === 'include' || isDeleted === (mode === 'only')
}

/** True where a call with that mode shows the record, and its delete has not begun. */
export const isThere = (
  model: EntityModel,
  bins: { readonly [bin: string]: unknown },
  mode: DeletedMode | undefined,
): boolean => (bins[DELETING_BIN] ?? null) === null && isShown(model, bins, mode)
