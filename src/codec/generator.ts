import { DoubleValue } from '../plan/value.js'
import type { ClassFunctions, ClassShape } from './class-functions.js'
import { INLINE } from './generated-types.js'
import { callsConstructor } from './instantiate.js'
import { setSnapshot, snapshotOf } from './interpreter.js'
import { defineProperty, isInherited, ownProperty } from './own-property.js'
import { isSingleBin, type PropertyCodec, type SingleBin } from './property-codec.js'
import { isSafeText } from '../keys/index.js'

/** False where the process forbids making code from strings (`--disallow-code-generation-from-strings`). */
export function mayGenerate(): boolean {
  try {
    compile([], '')
    return true
  } catch {
    return false
  }
}

// The one place where text becomes code: it is made of the model's names, each quoted, and of nothing else.
// eslint-disable-next-line @typescript-eslint/no-implied-eval
const compile = (parameters: readonly string[], body: string): unknown => new Function(...parameters, body)

/**
 * The functions of a class as straight code: one statement per property, nothing looked up at run time. Every name of the user is
 * a quoted string in it and nothing else of the user's is, so no name can become code.
 */
export function generateClass(shape: ClassShape): ClassFunctions {
  const { properties, attach } = shape
  const make = compile(['Class', 'properties', 'runtime', 'attach'], sourceOf(shape)) as (
    ...args: unknown[]
  ) => Omit<ClassFunctions, 'snapshotOf' | 'setSnapshot'>
  const runtime = { ownProperty, defineProperty, DoubleValue, isSafeText }
  const made = make(shape.class, properties, runtime, attach)
  // Empty instances teach V8 that their fields may hold anything: otherwise each number of each instance and of each snapshot gets
  // a box of its own, instead of being that of the record, which takes memory, and a look into it at every flush.
  made.snapshot({})
  if (attach === undefined && !callsConstructor(shape.class)) made.hydrate({}, undefined)
  return { ...made, snapshotOf, setSnapshot }
}

/** The source that `generateClass` runs, for people who want to read it. */
function sourceOf(shape: ClassShape): string {
  const { properties } = shape
  return [
    `'use strict'`,
    `const { ownProperty, defineProperty, DoubleValue, isSafeText } = runtime`,
    ...properties.map((_, i) => `const p${i} = properties[${i}]`),
    // Usually one property has changed, and the list that says so is not made anew.
    `const one = properties.map((_, index) => [index])`,
    `function push(list, index) {\n  if (list === undefined) return one[index]\n  if (list.length === 1) return [list[0], index]\n  list.push(index)\n  return list\n}`,
    hydrateSource(shape),
    `function fill(e, b, loaded) {\n  let v\n${readAll(shape, 'e')}\n}`,
    dehydrateSource(shape),
    // A constructor: V8 makes literals in the old generation once many of one place have lived at once.
    `function Snapshot(e) {\n  let v\n${properties.map((property, i) => `  this.s${i} = ${snapshotExpression(property, i)}\n`).join('')}}`,
    `Snapshot.prototype = Object.prototype`,
    `const snapshot = (e) => new Snapshot(e)`,
    `function changed(e, s) {\n  let c, v\n${properties.map(compareStatement).join('')}  return c\n}`,
    `return { hydrate, fill, dehydrate, snapshot, changed }`,
  ].join('\n')
}

const quote = (name: string): string => JSON.stringify(name)
const read = (object: string, name: string): string =>
  isInherited(name) ? `ownProperty(${object}, ${quote(name)})` : `${object}[${quote(name)}]`
const write = (object: string, name: string, value: string): string =>
  name === '__proto__' ? `defineProperty(${object}, ${quote(name)}, ${value})` : `${object}[${quote(name)}] = ${value}`
/** A name in an object literal; only a computed one makes `__proto__` a property like any other. */
const literalName = (name: string): string => (name === '__proto__' ? `[${quote(name)}]` : quote(name))

/** Without a constructor to call, one of our own with the same prototype: V8 then knows the instance's shape in advance. */
function hydrateSource(shape: ClassShape): string {
  if (callsConstructor(shape.class)) {
    return `function hydrate(b, loaded) {\n  const e = new Class()\n  let v\n${readAll(shape, 'e')}\n  return e\n}`
  }
  return [
    `function Instance(b, loaded) {\n  let v\n${readAll(shape, 'this')}\n}`,
    `Instance.prototype = Class.prototype`,
    `function hydrate(b, loaded) {\n  return new Instance(b, loaded)\n}`,
  ].join('\n')
}

function readAll(shape: ClassShape, target: string): string {
  const lines = shape.properties.map((property, i) => {
    if (!property.isAssigned) return ''
    const slow = `p${i}.decode(b, loaded)`
    const fast = INLINE[property.inline].decode?.(slow)
    if (!isSingleBin(property) || fast === undefined) return `  ${write(target, property.name, slow)}\n`
    return `  v = ${read('b', property.bin)}\n  ${write(target, property.name, fast)}\n`
  })
  return lines.join('') + (shape.attach ? `  attach(${target}, b, loaded)` : '')
}

function dehydrateSource(shape: ClassShape): string {
  const fixed = shape.constants.map(([bin, value]) => `${literalName(bin)}: ${JSON.stringify(value)}, `).join('')
  const body = shape.properties.every(isSingleBin)
    ? asLiteral(shape.properties, fixed)
    : inTurn(shape.properties, fixed)
  return `function dehydrate(e, depth) {\n  let v, bins\n${body}  return bins\n}`
}

/** All values first, then one literal where nothing is missing: the usual case, and one shape for all. */
function asLiteral(properties: readonly SingleBin[], fixed: string): string {
  const values = properties.map(
    (property, i) => `  v = ${read('e', property.name)}\n  const b${i} = ${encodeExpression(property, i)}\n`,
  )
  const isComplete = ['true', ...properties.map((_, i) => `b${i} !== undefined`)].join(' && ')
  const all = properties.map(({ bin }, i) => `${literalName(bin)}: b${i}, `).join('')
  const present = properties.map(({ bin }, i) => `    if (b${i} !== undefined) ${write('bins', bin, `b${i}`)}\n`)
  return `${values.join('')}  if (${isComplete}) bins = { ${fixed}${all}}\n  else {\n    bins = { ${fixed}}\n${present.join('')}  }\n`
}

function inTurn(properties: readonly PropertyCodec[], fixed: string): string {
  const lines = properties.map((property, i) => {
    const value = `  v = ${read('e', property.name)}\n`
    if (!isSingleBin(property)) return `${value}  p${i}.encodeInto(bins, v, depth)\n`
    return `${value}  v = ${encodeExpression(property, i)}\n  if (v !== undefined) ${write('bins', property.bin, 'v')}\n`
  })
  return `  bins = { ${fixed}}\n${lines.join('')}`
}

function encodeExpression(property: SingleBin, i: number): string {
  const slow = `p${i}.encode(v, depth)`
  return INLINE[property.inline].encode?.(slow) ?? slow
}

function snapshotExpression(property: PropertyCodec, i: number): string {
  const value = read('e', property.name)
  const { snapshot } = INLINE[property.inline]
  return snapshot ? `(v = ${value}, ${snapshot})` : `p${i}.snapshot(${value})`
}

function compareStatement(property: PropertyCodec, i: number): string {
  if (!property.isCompared) return ''
  const slow = `!p${i}.same(v, s.s${i})`
  const different = INLINE[property.inline].different?.(`s.s${i}`, slow) ?? slow
  return `  v = ${read('e', property.name)}\n  if (${different}) c = push(c, ${i})\n`
}
