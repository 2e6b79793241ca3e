import { read } from '../../../plan/command.js'
import type { Expression } from '../../../plan/expression.js'
import { readBin, readExpression } from '../../../plan/operations.js'
import type { Value } from '../../../plan/value.js'
import type { LocatedPart } from '../../contract/relation-strategy.js'
import { locateApart } from '../companion-parts/locate-apart.js'
import type { PartTable } from '../consolidate/part-table.js'
import type { GrowingPartHomes } from './growing-part-homes.js'

/** Times that a child is asked which others move meanwhile. */
const TRIES = 8

type Answers = readonly (Value | undefined)[]

/** A child for its handle. While children move, it is brought to its new home before it is asked there. */
export function locateGrowing(child: LocatedPart, table: PartTable, homes: GrowingPartHomes): LocatedPart {
  const located = locateApart(child, table, homes)
  const apart = located.apart!
  return {
    ...located,
    apart: {
      record: (operation) => apart.record(operation),
      get recorded() {
        return apart.recorded
      },
      async ask(expressions) {
        for (let tries = 0; ; tries++) {
          try {
            return await apart.ask(expressions)
          } catch (error) {
            if (!homes.isMoving(error) || tries === TRIES) throw error
          }
          const answers = await askMoving(child, table, homes, expressions)
          if (answers !== undefined) return answers
        }
      },
    },
  }
}

/** Undefined where the move has ended meanwhile, or another one has begun. */
async function askMoving(
  { id }: LocatedPart,
  { owner, reader }: PartTable,
  homes: GrowingPartHomes,
  expressions: readonly Expression[],
): Promise<Answers | undefined> {
  const { growth, moveBin } = homes
  await growth.mover.pull(owner.key, [id], reader.direct)
  const { move } = homes.placement(owner.key)
  const questions = expressions.map((one, i) => readExpression(`_sk.q${i}`, one))
  const home = homes.homeOf(owner.key, id)
  const [record] = await reader.read([read(owner.model.name, home, 'none', [...questions, readBin(moveBin)])])
  if (move === undefined || record === null || Number(record.bins[moveBin]) !== move.id) return undefined
  return questions.map(({ name }) => record.bins[name])
}
