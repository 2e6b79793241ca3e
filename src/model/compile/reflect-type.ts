import type { BinType } from '../bin-type.js'
import { findDeclaration } from '../declaration.js'
import type { EntityClass } from '../model.js'
import { scalarOfConstructor } from './resolve-type.js'
import type { TypeProblem } from './subtype.js'

interface MetadataReader {
  getMetadata?(key: string, target: object, property: string): unknown
}

/** The constructor that the compiler wrote down for a property; undefined without `emitDecoratorMetadata` or reflect-metadata. */
export function reflectedConstructor(target: EntityClass, property: string): unknown {
  return (Reflect as MetadataReader).getMetadata?.('design:type', target.prototype as object, property)
}

/** The type of a property as reflection sees it; or why that is not enough. */
export function reflectType(target: EntityClass, property: string, decorator: string): BinType | TypeProblem {
  const seen = reflectedConstructor(target, property)
  const kind = scalarOfConstructor(seen)
  if (kind) return { kind }
  if (seen === undefined) return noMetadata(decorator)
  return ITEMS.get(seen) ?? notStorable(seen)
}

const ITEMS = new Map<unknown, TypeProblem>([
  [
    Array,
    ambiguous('an array', "@Bin({ type: { list: 'string' } }); for parts @Embedded(() => Part, { as: 'array' })"),
  ],
  [Set, ambiguous('a Set', "@Bin({ type: { set: 'string' } })")],
  [
    Map,
    ambiguous('a Map', "@Bin({ type: { map: 'string', key: 'int' } }); for parts @Embedded(() => Part, { as: 'map' })"),
  ],
])

function ambiguous(what: string, example: string): TypeProblem {
  return {
    code: 'SKEIN_1021',
    message: `It is ${what}, and reflection cannot see of what.`,
    fix: `Say it in the decorator: ${example}.`,
  }
}

function noMetadata(decorator: string): TypeProblem {
  return {
    code: 'SKEIN_1020',
    message: 'Its type is not known: the compiler wrote no metadata for it.',
    fix: `Say it in the decorator, @${decorator}({ type: 'string' }), or 'int', 'date' and so on; or compile with emitDecoratorMetadata, which tsc and swc have and esbuild and tsx do not.`,
  }
}

function notStorable(seen: unknown): TypeProblem {
  const declaration = typeof seen === 'function' ? findDeclaration(seen as EntityClass) : undefined
  if (typeof seen !== 'function' || seen === Object) {
    return {
      code: 'SKEIN_1020',
      message:
        'Its type is not written at the property, or is a union or an interface: reflection cannot see what is stored.',
      fix: `Write the type (name: string = ''), or say it in the decorator: @Bin({ type: 'string' }), @Bin({ type: 'json' }).`,
    }
  }
  if (declaration?.record) {
    return {
      code: 'SKEIN_1020',
      message: `${seen.name} is a record of its own and cannot be a bin.`,
      fix: `Make it a relation: @ManyToOne(() => ${seen.name}) with ref<${seen.name}>().`,
    }
  }
  return {
    code: 'SKEIN_1020',
    message: `${seen.name} is a class that Skein does not know how to store.`,
    fix: declaration?.embeddable
      ? `Use @Embedded(() => ${seen.name}) in place of @Bin.`
      : `Make it an @Embeddable and use @Embedded(() => ${seen.name}), or give @Bin({ type: … }) a codec.`,
  }
}
