import 'reflect-metadata'
import { Bin, Key, Record, Version } from 'skein'

@Record({ set: 'plain' })
export class Plain {
  @Key() id!: string
  @Bin() a?: string
  @Bin() b?: number
  @Bin({ type: { list: 'string' } }) tags?: string[]
}

@Record({ set: 'versioned' })
export class Versioned extends Plain {
  @Version() version?: number
}

@Record({ set: 'expiring', ttl: 100 })
export class Expiring extends Plain {}

export const KINDS = { plain: Plain, versioned: Versioned, expiring: Expiring } as const
export type Kind = keyof typeof KINDS

/** The values that an entity or a record holds; what is missing is undefined in neither. */
export interface Values {
  a?: string
  b?: number
  tags?: string[]
}
export type Property = keyof Values
export const PROPERTIES: readonly Property[] = ['a', 'b', 'tags']

export interface Target {
  readonly kind: Kind
  readonly key: number
}

/** A step of a random run; `session` is one of two. */
export type Action =
  | ({ readonly do: 'create'; readonly session: 0 | 1; readonly values: Values } & Target)
  | ({ readonly do: 'change'; readonly session: 0 | 1; readonly values: Values } & Target)
  | ({
      readonly do: 'load' | 'loadPart' | 'save' | 'upsert' | 'remove' | 'delete' | 'deleteByKey' | 'refresh' | 'detach'
      readonly session: 0 | 1
    } & Target)
  | { readonly do: 'flush' | 'clear'; readonly session: 0 | 1 }
  | ({ readonly do: 'writeOutside'; readonly values: Values } & Target)
  | ({ readonly do: 'deleteOutside' } & Target)
  | { readonly do: 'wait'; readonly seconds: number }

/** The outcome of a call: a word, or the name of its error. */
export type Result = string

export const copy = ({ a, b, tags }: Values): Values => ({
  ...(a === undefined ? {} : { a }),
  ...(b === undefined ? {} : { b }),
  ...(tags === undefined ? {} : { tags: [...tags] }),
})
