import type { ClassFunctions, ClassShape, Snapshot } from './class-functions.js'
import { instantiate } from './instantiate.js'
import { readProperty, writeProperty } from './own-property.js'
import type { Loaded, MutableBins } from './property-codec.js'
import type { Bins } from '../plan/command.js'

/**
 * The functions of a class as plain loops over its properties: what generated code is tested against, and what runs where code
 * generation from strings is forbidden.
 */
export function interpretClass(shape: ClassShape): ClassFunctions {
  const { properties, constants, attach } = shape

  function fill(instance: object, bins: Bins, loaded: Loaded): void {
    for (const property of properties) {
      if (property.isAssigned) writeProperty(instance, property.name, property.decode(bins, loaded))
    }
    attach?.(instance, bins, loaded)
  }

  return {
    hydrate(bins, loaded) {
      const instance = instantiate(shape.class)
      fill(instance, bins, loaded)
      return instance
    },
    fill,
    dehydrate(instance, depth) {
      const bins: MutableBins = {}
      for (const [bin, value] of constants) writeProperty(bins, bin, value)
      for (const property of properties) property.encodeInto(bins, readProperty(instance, property.name), depth)
      return bins
    },
    snapshot(instance) {
      return Object.fromEntries(
        properties.map((property, i) => [`s${i}`, property.snapshot(readProperty(instance, property.name))]),
      )
    },
    changed(instance, snapshot) {
      const indexes: number[] = []
      for (const [i, property] of properties.entries()) {
        if (!property.same(readProperty(instance, property.name), snapshotOf(snapshot, i))) indexes.push(i)
      }
      return indexes.length > 0 ? indexes : undefined
    },
    snapshotOf,
    setSnapshot,
  }
}

/** Snapshots of generated and interpreted functions have one form: the property with index i is `s<i>`. */
export function snapshotOf(snapshot: Snapshot, index: number): unknown {
  return (snapshot as Record<string, unknown>)[nameOf(index)]
}

export function setSnapshot(snapshot: Snapshot, index: number, value: unknown): void {
  ;(snapshot as Record<string, unknown>)[nameOf(index)] = value
}

const names: string[] = []
/** Each name is made once: building a text takes longer than the read it is for. */
const nameOf = (index: number): string => (names[index] ??= `s${index}`)
