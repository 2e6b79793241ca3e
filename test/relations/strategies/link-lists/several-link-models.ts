import {
  Bin,
  Companion,
  CountOf,
  DeletedAt,
  Embeddable,
  Index,
  Key,
  ManyToMany,
  Record,
  Sharded,
  collection,
} from 'skein'

/** Values of a link to a song or a film. */
@Embeddable()
export class Mark {
  @Bin() stars!: number
  @Bin() word?: string
}

/** Values of a link that stays when it is ended. */
@Embeddable()
export class Stay {
  @Bin() since!: number
  @DeletedAt() until?: Date
}

/** Links lead to two classes, whose keys are of different types. */
@Record({ set: 'song' })
export class Song {
  @Key() id!: number
  @Bin() title?: string
  @ManyToMany(() => Fan, 'loved', { attributes: () => Mark }) lovers = collection<Fan, Mark>()
  @ManyToMany(() => Fan, 'listed', { name: 'in_lists' }) listedBy = collection<Fan>()
  @ManyToMany(() => Fan, 'rented', { attributes: () => Stay }) renters = collection<Fan, Stay>()
}

@Record({ set: 'film' })
export class Film {
  @Key() id!: string
  @Bin() title?: string
  @Companion() @ManyToMany(() => Fan, 'loved', { attributes: () => Mark }) lovers = collection<Fan, Mark>()
  @ManyToMany(() => Fan, 'listed') listedBy = collection<Fan>()
  @ManyToMany(() => Fan, 'rented', { attributes: () => Stay }) renters = collection<Fan, Stay>()
}

@Record({ set: 'fan' })
export class Fan {
  @Key() id!: string
  @Index() @ManyToMany(() => [Song, Film], { attributes: () => Mark }) liked = collection<Song | Film, Mark>()
  @CountOf('liked') likes = 0
  @Index() @ManyToMany(() => [Song, Film]) seen = collection<Song | Film>()
  @ManyToMany(() => [Song, Film], 'lovers', { owner: true, attributes: () => Mark }) loved = collection<
    Song | Film,
    Mark
  >()
  @Sharded({ by: 'hash', shards: 3 }) @ManyToMany(() => [Song, Film], 'listedBy', { owner: true }) listed = collection<
    Song | Film
  >()
  @ManyToMany(() => [Song, Film], 'renters', { owner: true, attributes: () => Stay }) rented = collection<
    Song | Film,
    Stay
  >()
}

export const LINKED = [Song, Film, Fan]
