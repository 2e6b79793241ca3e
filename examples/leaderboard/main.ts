import 'reflect-metadata'
import { open } from 'skein'
import { showBytes, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Leaderboard, score } from './models.js'

const DAY = Date.UTC(2024, 4, 1)

/** A leaderboard in one record: new scores, the top, a player's place and neighbours, without ever loading it. */
export async function main(print: (text: string) => void, players = 5_000): Promise<void> {
  const db = await open({ ...where(), entities: [Leaderboard] })
  try {
    await db.withSession(async (session) => {
      const { scores } = session.create(Leaderboard, { game: 'chess' })
      for (let i = 0; i < players; i++) scores.add(score(`player ${i}`, (i * 7_919) % 10_007, new Date(DAY + i)))
    })
    const session = db.session()
    const { scores } = await session.load(Leaderboard, 'chess')
    print(`${(await scores.count()).toLocaleString('en')} players`)

    const top = await trafficOf(async () => {
      for (const { player, points } of [...(await scores.last(3))].reverse()) print(`  ${points} ${player}`)
    })
    print(`The best three: ${showBytes(top)}`)

    const better = score('player 17', 10_020, new Date(DAY + players))
    const submitting = await trafficOf(async () => {
      scores.add(better)
      await session.flush()
    })
    print(`A new score of player 17 takes the place of the old one: ${showBytes(submitting)}`)
    print(`${(await scores.count()).toLocaleString('en')} players, the best is ${(await scores.last(1))[0].player}`)

    const recent = await trafficOf(async () => {
      const found = [...(await scores.by('recent').last(3))].reverse()
      print(`The most recent scores are of ${found.map(({ player }) => player).join(', ')}`)
    })
    print(`  ${showBytes(recent)}`)

    let place = 0
    const ranking = await trafficOf(async () => {
      place = (await scores.count()) - (await scores.indexOf('player 42'))!
    })
    print(`Player 42 has place ${place.toLocaleString('en')}: ${showBytes(ranking)}`)

    const among = await trafficOf(async () => {
      const found = await scores.range({ from: 10_000, to: 10_005 })
      print(`Between 10,000 and 10,005 points: ${found.map(({ player }) => player).join(', ')}`)
    })
    print(`  ${showBytes(among)}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
