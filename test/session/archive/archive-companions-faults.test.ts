import { testArchiveFaults } from './archive-course.js'
import { ALONG, comment, idsIn, postIn, Reader, type Post } from './archive-companion-models.js'

const { Post: Archived, all } = postIn('cold')
const BESIDE = ['views', 'commentCount', 'comments', 'notes', 'dated', 'readers']

testArchiveFaults({
  title: 'archives of a record with companions',
  classes: all,
  owner: Archived,
  sets: ['ac_post', ...BESIDE.map((each) => `ac_post_${each}`)],
  states: [
    {
      title: '',
      store: async (db) => {
        await db.withSession((session) => {
          const post = session.persist(Object.assign(new Archived(), { id: 1, title: 't' }))
          post.comments.add(...['a', 'c'].map((id, day) => comment(id, day)))
          post.dated.add(comment('x', 1))
          post.readers.add(session.create(Reader, { id: 1 }))
        })
        await db.withSession((session) => void session.at<Post>(Archived, 1).counter('views').add(2))
      },
    },
  ],
  shown: async (db, from) => {
    const post = await db.session().load<Post>(Archived, 1, { with: ALONG, ...(from && { from }) })
    return [post.title, post.views, ...idsIn(post)]
  },
  all: ['t', 2, ['a', 'c'], [], ['x'], [1]],
  change: async (db) => {
    const session = db.session()
    const post = await session.load<Post>(Archived, 1, { with: ALONG })
    post.comments.add(comment('d', 5))
    post.dated.add(comment('z', 9))
    post.readers.remove(1)
    post.views += 1
    await session.flush()
  },
  changed: ['t', 3, ['a', 'c', 'd'], [], ['x', 'z'], []],
})
