import type { KeyValue, TimeRange } from '../../keys/index.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'
import { cut, type CollectionMembers, type TimedKey } from '../contract/collection-members.js'
import type { Member } from '../contract/member.js'
import type { CollectionState } from '../state/collection-state.js'
import { entitiesOf } from './added-members.js'
import { askedBinding, isComplete } from './asked-collection.js'
import { linkedIn, linksUnder } from './linked-questions.js'

type ByTime = NonNullable<CollectionMembers['byTime']>

/** A member, and the time that it is or will be kept by. */
interface Timed {
  readonly member: Member
  readonly time: number
}

/** The session that a question by time is for; undefined where members are not linked and kept by time. */
export function timedBinding(state: CollectionState, call: string): Binding | undefined {
  return state.binding?.strategy.members?.byTime === undefined ? undefined : askedBinding(state, call)
}

/** Members of a range of time, from the oldest, with the unsent changes on top. */
export async function askWindow(state: CollectionState, binding: Binding, range: TimeRange): Promise<object[]> {
  const { from, to } = range
  const { byTime } = binding.strategy.members!
  const stored = isComplete(state) ? [] : await byTime!.window(binding.tracked, binding.reader, range)
  const isWithin = ({ time }: Timed): boolean => time >= from.getTime() && time < to.getTime()
  const all = withAdded(state, stored, addedIn(state, byTime!).filter(isWithin))
  return shown(
    state,
    binding,
    all.map(({ member }) => member),
  )
}

/** The first or last members by time, from the oldest, with the unsent changes on top. */
export async function askNearest(
  state: CollectionState,
  binding: Binding,
  count: number,
  end: 'first' | 'last',
): Promise<object[]> {
  const { byTime } = binding.strategy.members!
  // Members that leave make room for others.
  const most = count + state.asShown(() => state.removed.length)
  const isNone = isComplete(state) || count === 0
  const stored = isNone ? [] : await byTime!.nearest(binding.tracked, binding.reader, most, end)
  const all = withAdded(state, stored, addedIn(state, byTime!)).map(({ member }) => member)
  return shown(state, binding, cut(all, end === 'last' ? { offset: -count, count } : { offset: 0, count }))
}

/** Members as people see them: link records stand for what they lead to. */
function shown(state: CollectionState, binding: Binding, members: readonly Member[]): Promise<object[]> {
  const links = linkedIn(state, binding)
  return links === undefined ? entitiesOf(members, binding) : linksUnder(links, members)
}

function addedIn(state: CollectionState, byTime: ByTime): readonly Timed[] {
  return state.asShown(() =>
    state.added.map((member) => ({ member, time: byTime.timeOf(state.links.get(member)?.value) ?? Infinity })),
  )
}

function withAdded(state: CollectionState, stored: readonly TimedKey[], added: readonly Timed[]): readonly Timed[] {
  return state.asShown(() => {
    const known = new Set(added.flatMap(({ member }) => idOf(state.keyOf(member))))
    const kept = stored
      .filter(({ key }) => !state.isRemoved(key) && !known.has(userKeyId(key)))
      .map(({ key, time }) => ({ member: key, time }))
    return [...kept, ...added].sort((a, b) => a.time - b.time)
  })
}

const idOf = (key: KeyValue | null): string[] => (key === null ? [] : [userKeyId(key)])
