import { stage, type Stage } from './plan.js'

/** Describes what a read will decide, with or without a transaction; undefined where nothing is read. */
export type DescribeStep = (isTransaction: boolean) => string | undefined

/** A step that depends on a read at flush time, as `explain()` describes it. */
export interface DeferredStep {
  readonly name: string
  readonly tell: DescribeStep
  /** Id of the record that the step was planned for. */
  readonly of?: string
}

/** Adds the descriptions of deferred steps to the stages; `order` names all stages. */
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
