import 'reflect-metadata'
import { SkeinError } from '../errors/index.js'
import { declarationOf } from '../model/declaration.js'
import type { HookName, EntityClass } from '../model/model.js'
import type { MemberDecorator, MemberNote } from '../model/declaration.js'

/** Writes down what a property decorator says; checking waits until the model is compiled. */
export function noteMember<D extends MemberDecorator>(
  proto: object,
  property: string,
  decorator: D,
  options: MemberNote<D>['options'],
  other: Pick<MemberNote, 'target' | 'inverse'> = {},
): void {
  const owner = ownerOf(proto, property, decorator)
  declarationOf(owner).members.push({ decorator, property, options, ...other })
}

export function noteHook(proto: object, method: string, hook: HookName): void {
  const decorator = hook.charAt(0).toUpperCase() + hook.slice(1)
  declarationOf(ownerOf(proto, method, decorator)).hooks.push({ hook, method })
}

/** The class a decorator stands in, or a clear error where it cannot work. */
function ownerOf(proto: object | undefined, property: string | symbol | object, decorator: string): EntityClass {
  if (typeof property === 'object') throw wrongDecorators(decorator)
  if (typeof property === 'symbol') throw notMappable(decorator, `member named by a symbol (${String(property)})`)
  if (typeof proto === 'function') throw notMappable(decorator, `static member (${property})`)
  return (proto as { constructor: EntityClass }).constructor
}

/** The class decorated by `@Record` or `@Embeddable`. */
export function decoratedClass(target: unknown, context: unknown, decorator: string): EntityClass {
  if (typeof context === 'object') throw wrongDecorators(decorator)
  return target as EntityClass
}

function wrongDecorators(decorator: string): SkeinError {
  return new SkeinError('SKEIN_2003', `@${decorator} was called as a standard (stage 3) decorator.`, {
    fix: 'Set "experimentalDecorators": true in the compilerOptions of tsconfig.json (swc: "legacyDecorator": true).',
  })
}

function notMappable(decorator: string, what: string): SkeinError {
  return new SkeinError('SKEIN_2002', `@${decorator} is on a ${what}, which cannot be stored.`, {
    fix: 'Put it on an instance property with a name.',
  })
}
