import { stage, type Stage } from './plan.js'

/** Says what a read will decide; undefined where nothing is read. It is told whether a transaction carries the plan. */
export type DescribeStep = (isTransaction: boolean) => string | undefined

/** What can only be known when the plan is sent, for those who look at it before. */
export interface DeferredStep {
  readonly name: string
  readonly tell: DescribeStep
  /** The record it was planned for. */
  readonly of?: string
}

/** The stages with what follows from reads; `order` names all stages there are. */
export function withDeferredSteps(
  stages: readonly Stage[],
  following: readonly DeferredStep[],
  isTransaction: boolean,
  order: readonly string[],
): Stage[] {
  const told = new Map<string, Set<string>>()
  for (const { name, tell } of following) {
    const text = tell(isTransaction)
    // A transaction has one stage for all.
    const title = isTransaction ? order[0] : name
    if (text !== undefined) told.set(title, (told.get(title) ?? new Set()).add(text))
  }
  const all = [...stages]
  for (const [title, texts] of told) {
    const afterRead = [...texts].join('\n')
    const at = all.map((each) => each.title).lastIndexOf(title)
    if (at < 0) all.push(stage(title, [], afterRead))
    else all[at] = { ...all[at], afterRead }
  }
  return all.sort((a, b) => order.indexOf(a.title) - order.indexOf(b.title))
}
