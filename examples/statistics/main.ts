import 'reflect-metadata'
import { open } from 'skein'
import { showBytes, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Member } from './models.js'

/** Counts into nested maps and parts of one record from many sessions at once; nothing is read, and nothing is lost. */
export async function main(print: (text: string) => void, writers = 50): Promise<void> {
  const db = await open({ ...where(), entities: [Member] })
  try {
    const counting = await trafficOf(() =>
      Promise.all(
        Array.from({ length: writers }, async (_, i) => {
          const session = db.session()
          const member = session.at(Member, 'alice', { create: true })
          member
            .map('stats')
            .at('accolades')
            .increment(i % 2 === 0 ? 'jokes' : 'answers')
          member.map('stats').at('visits').increment('days')
          member.map('activity').increment('messages', 3)
          await session.flush()
        }),
      ),
    )
    print(`${writers} writers count at once, and make what is missing: ${showBytes(counting)}`)

    const alice = db.session().at(Member, 'alice')
    const asking = await trafficOf(async () => {
      const [jokes, best, messages] = await Promise.all([
        alice.map('stats').at('accolades').get('jokes'),
        alice.map('stats').at('accolades').top(1),
        alice.map('activity').get('messages'),
      ])
      print(`stats.accolades.jokes is ${jokes}, most often: ${best[0].join(' ')}, messages: ${messages}`)
    })
    print(`  ${showBytes(asking)}`)

    const loads = await Promise.all(
      [1, 2].map(async () => {
        const session = db.session()
        return { session, member: await session.load(Member, 'alice') }
      }),
    )
    await Promise.all(
      loads.map(({ session, member }) => {
        member.activity.reactions += 1
        return session.flush()
      }),
    )
    print(`Two sessions that loaded it add a reaction each: ${await alice.map('activity').get('reactions')}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
