import type { MemberOptions } from '../model/declaration.js'
import type { EntityClass } from '../model/model.js'
import { noteMember } from './note.js'

/** A class, or a list of them. */
export type Targets = () => EntityClass | readonly EntityClass[]

type Relation = 'OneToOne' | 'OneToMany' | 'ManyToOne' | 'ManyToMany'

/** Relations are written `(target, inverse, options?)` or, when one-sided, `(target, options?)`. */
export function noteRelation<D extends Relation>(
  proto: object,
  property: string,
  decorator: D,
  target: Targets,
  inverseOrOptions: string | MemberOptions[D] = {},
  options: MemberOptions[D] = {},
): void {
  if (typeof inverseOrOptions === 'object') {
    noteMember(proto, property, decorator, inverseOrOptions, { target })
  } else {
    noteMember(proto, property, decorator, options, { target, inverse: inverseOrOptions })
  }
}
