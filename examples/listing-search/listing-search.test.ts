import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Customer, Draft, SearchListing, TenantOrder } from './models.js'

describe('the example listing-search', () => {
  it('browses, finds, exports and cleans up', async () => {
    const indexes = ['search_listing_city', 'search_listing_price', 'search_customer_email', 'search_draft_touchedAt']
    await readyForExample([SearchListing, Customer, TenantOrder, Draft], indexes)
    const lines: string[] = []
    await main((text) => lines.push(text))
    const pages = lines.filter((line) => line.startsWith('a page of'))
    expect(pages).to.deep.equal(Array.from({ length: 3 }, () => 'a page of 11 listings'))
    expect(lines[1]).to.include('asks the index search_listing_city')
    expect(lines).to.include('cheapest: 520, 550, 580')
    expect(lines).to.include('facets: garden 16, lake 33')
    expect(lines).to.include('23 with four rooms or no garden')
    expect(lines.find((line) => line.startsWith('c7@'))).to.equal(
      'c7@example.com is Customer 7: 1 command in 1 round trip',
    )
    expect(lines).to.include('2 orders, 100 %')
    const csv = lines.find((line) => line.startsWith('id,'))!
    expect(csv.trim().split('\n').sort()).to.deep.equal([
      '1,"""acme"" chair",1',
      '2,"""acme"" chair",2',
      'id,item,amount',
    ])
    expect(lines.at(-1)).to.equal('50 old drafts, 50 deleted by the server, 70 left')
  })
})
