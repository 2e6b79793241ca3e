import { findDeclaration, type MemberNote } from '../declaration.js'
import { HOOK_NAMES, type EntityClass, type HookName, type HooksModel } from '../model.js'
import type { CalculatedIndexOptions, EmbeddableOptions, HistoryOptions, RecordOptions } from '../options.js'

/** Declarations of a class and of its base classes. */
export interface ClassNotes {
  readonly class: EntityClass
  readonly name: string
  /** Options of the class itself, without those of its base classes. */
  readonly record?: RecordOptions
  readonly embeddable?: EmbeddableOptions
  /** By property, base class first. What a subclass says about a property replaces what its base said. */
  readonly members: ReadonlyMap<string, readonly MemberNote[]>
  /** The name of the class that declares each property. */
  readonly declaredBy: ReadonlyMap<string, string>
  readonly hooks: HooksModel
  readonly indexes: readonly CalculatedIndexOptions[]
  /** Options of the class itself, or of the nearest base class that keeps a history. */
  readonly history?: HistoryOptions
  /** The nearest base class that is a `@Record` too. */
  readonly base?: EntityClass
}

export function readClassNotes(target: EntityClass): ClassNotes {
  const chain = classChain(target)
  const own = findDeclaration(target)
  const base = chain.slice(0, -1).findLast((ancestor) => findDeclaration(ancestor)?.record !== undefined)
  const history = chain.findLast((ancestor) => findDeclaration(ancestor)?.history !== undefined)
  return {
    class: target,
    name: nameOf(target),
    ...(own?.record && { record: own.record }),
    ...(own?.embeddable && { embeddable: own.embeddable }),
    members: readMembers(chain),
    declaredBy: readDeclaringClasses(chain),
    hooks: readHooks(chain),
    indexes: chain.flatMap((ancestor) => findDeclaration(ancestor)?.indexes ?? []),
    ...(history && { history: findDeclaration(history)!.history }),
    ...(base && { base }),
  }
}

function nameOf(target: EntityClass): string {
  const declaration = findDeclaration(target)
  return declaration?.record?.name ?? declaration?.embeddable?.name ?? target.name
}

/** The class and the classes it extends, base first. */
function classChain(target: EntityClass): EntityClass[] {
  const chain: EntityClass[] = []
  for (let c: unknown = target; typeof c === 'function' && c !== Function.prototype; c = Object.getPrototypeOf(c)) {
    chain.unshift(c as EntityClass)
  }
  return chain
}

function readMembers(chain: readonly EntityClass[]): ReadonlyMap<string, readonly MemberNote[]> {
  const members = new Map<string, MemberNote[]>()
  for (const ancestor of chain) {
    const own = new Map<string, MemberNote[]>()
    for (const note of findDeclaration(ancestor)?.members ?? []) {
      own.set(note.property, [...(own.get(note.property) ?? []), note])
    }
    for (const [property, notes] of own) members.set(property, notes)
  }
  return members
}

function readDeclaringClasses(chain: readonly EntityClass[]): ReadonlyMap<string, string> {
  return new Map(
    chain.flatMap((ancestor) => {
      const { members = [], hooks = [] } = findDeclaration(ancestor) ?? {}
      const names = [...members.map(({ property }) => property), ...hooks.map(({ method }) => method)]
      return names.map((name) => [name, nameOf(ancestor)] as const)
    }),
  )
}

function readHooks(chain: readonly EntityClass[]): HooksModel {
  const hooks = Object.fromEntries(HOOK_NAMES.map((hook) => [hook, new Set<string>()])) as Record<HookName, Set<string>>
  for (const ancestor of chain) {
    for (const { hook, method } of findDeclaration(ancestor)?.hooks ?? []) hooks[hook].add(method)
  }
  return Object.fromEntries(HOOK_NAMES.map((hook) => [hook, [...hooks[hook]]])) as unknown as HooksModel
}
