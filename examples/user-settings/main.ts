import 'reflect-metadata'
import { open } from 'skein'
import { showBytes, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { User } from './models.js'

/** Reads and changes two of a thousand settings; the others stay on the server. */
export async function main(print: (text: string) => void): Promise<void> {
  const db = await open({ ...where(), entities: [User] })
  try {
    const settings = new Map(Array.from({ length: 1_000 }, (_, i) => [`option ${i}`, 'x'.repeat(100)]))
    settings.set('locale', 'de-CH').set('theme', 'dark')
    const signIns = Array.from({ length: 500 }, (_, i) => `sign-in ${i}`)
    await db.session().save(Object.assign(new User(), { name: 'alice', email: 'alice@example.org', settings, signIns }))

    const session = db.session()
    const only = ['email', { settings: ['locale', 'theme'] }, { signIns: { last: 2 } }] as const
    const loading = await trafficOf(async () => {
      const user = await session.load(User, 'alice', { only })
      print(`${user.email}: ${[...user.settings].map((entry) => entry.join(' ')).join(', ')}`)
      print(`Last seen: ${user.signIns.join(', ')}`)
    })
    print(`  ${showBytes(loading)}`)

    const user = await session.load(User, 'alice', { only })
    user.settings.set('theme', 'light')
    user.signIns.push('sign-in 500')
    const changing = await trafficOf(() => session.flush())
    print(`One setting changed and one sign-in appended: ${showBytes(changing)}`)

    const whole = await db.session().load(User, 'alice')
    print(
      `${whole.settings.size} settings and ${whole.signIns.length} sign-ins are stored, the theme is ${whole.settings.get('theme')}`,
    )
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
