import { Bin, Key, ManyToOne, OneToMany, Record, collection, ref, type Session } from 'skein'
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

@Record({ set: 'song' })
class Song {
  @Key() id!: string
  @Bin() title!: string
  @ManyToOne(() => Playlist) heardIn = ref<Playlist>()
}

/** Lets its songs be. */
@Record({ set: 'playlist' })
class Playlist {
  @Key() id!: number
  @Bin() title!: string
  @OneToMany(() => Song, { strategy: 'keyList' }) songs = collection<Song>()
}

/** Takes its tracks along. */
@Record({ set: 'album' })
class Album {
  @Key() id!: number
  @Bin() title!: string
  @OneToMany(() => Song, { strategy: 'keyList', onDelete: 'cascade' }) tracks = collection<Song>()
}

const song = (world: World, i: number): Song => make(Song, world.name(i), { title: 'song' })

function music(session: Session, world: World): void {
  const songs = [0, 1, 2].map((i) => session.persist(song(world, i)))
  session.persist(make(Playlist, world.number(0), { title: 'playlist' })).songs.add(songs[0], songs[1])
  session.persist(make(Playlist, world.number(1), { title: 'playlist' }))
  session.persist(make(Album, world.number(0), { title: 'album' })).tracks.add(songs[2])
}

/** A list and a bin that nobody else knows of: they are all there is to the relation. */
export const ONE_SIDED: Family = {
  name: 'one-sided lists and references',
  classes: [Song, Playlist, Album],
  references: [
    { set: 'playlist', bin: 'songs', to: 'song' },
    { set: 'album', bin: 'tracks', to: 'song' },
    { set: 'song', bin: 'heardIn', to: 'playlist' },
  ],
  operations: [
    {
      title: 'save a new owner with new and old members',
      prepare: music,
      async change(session, world) {
        const { songs } = await obtain(session, Playlist, world.number(2), { title: 'playlist' })
        songs.add(await obtain(session, Song, world.name(3), { title: 'song' }), world.name(0))
      },
    },
    {
      title: 'add a member',
      prepare: music,
      async change(session, world) {
        const { songs } = await session.load(Playlist, world.number(0))
        songs.add(await session.load(Song, world.name(2)))
      },
    },
    {
      title: 'add a new member',
      prepare: music,
      async change(session, world) {
        const { songs } = await session.load(Playlist, world.number(0))
        songs.add(await obtain(session, Song, world.name(3), { title: 'song' }))
      },
    },
    {
      title: 'take a member out',
      prepare: music,
      async change(session, world) {
        ;(await session.load(Playlist, world.number(0))).songs.remove(world.name(0))
      },
    },
    {
      title: 'exchange members',
      prepare: music,
      async change(session, world) {
        const { songs } = await session.load(Playlist, world.number(0))
        songs.remove(world.name(0))
        songs.add(world.name(2))
      },
    },
    deletion('delete an owner and let its members be', music, Playlist, (world) => world.number(0)),
    deletion('delete an owner with its members', music, Album, (world) => world.number(0)),
    {
      title: 'point to another',
      prepare: music,
      async change(session, world) {
        ;(await session.load(Song, world.name(0))).heardIn.set(world.number(0))
      },
    },
    {
      title: 'point to a new one',
      prepare: music,
      async change(session, world) {
        const playlist = await obtain(session, Playlist, world.number(2), { title: 'playlist' })
        ;(await session.load(Song, world.name(0))).heardIn.set(playlist)
      },
    },
    {
      title: 'save a new one that points to a new one',
      prepare: () => undefined,
      async change(session, world) {
        const playlist = await obtain(session, Playlist, world.number(0), { title: 'playlist' })
        ;(await obtain(session, Song, world.name(0), { title: 'song' })).heardIn.set(playlist)
      },
    },
  ],
}
