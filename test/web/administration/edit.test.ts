import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { answerWith, serviceIs, settled } from '../../support/page.ts'
import { drawn, drawnAgain, handler, jsx } from '../drawing.ts'

const { loadSession } = await import('../../../web/src/auth/session.ts')
const { Details } = await import('../../../web/src/administration/page.tsx')

describe('the fields of an account', () => {
  serviceIs((path) =>
    path === '/v1/auth/me'
      ? answerWith(200, { id: 1, userName: 'mara' })
      : answerWith(200, { permissions: [] }),
  )
  before(() => loadSession())
  let answer = Promise.withResolvers<string>()
  const sent: string[] = []
  const show = (name: string, etag: string) =>
    drawn(
      jsx(Details<'displayName'>, {
        ...{ title: 'Service', id: 7, looks: { displayName: { label: 'Name' } } },
        ...{ loaded: { texts: { displayName: name }, roles: ['Viewer'] }, etag },
        send: ({ texts }: { texts: { displayName: string } }, tag: string) => {
          sent.push(`${texts.displayName} ${tag}`)
          answer = Promise.withResolvers()
          return answer.promise
        },
      }),
    )
  const type = (value: string) => {
    handler('onChange')({ target: { value } })
    return drawnAgain()
  }
  const save = () => {
    handler('onSubmit')({ preventDefault: () => undefined, currentTarget: { checkValidity: () => true } })
    return settled()
  }

  it('take what is typed while they are saved, and save it after another change of the account', async () => {
    show('One', '"1"')
    type('Two')
    await save()
    type('Three')
    answer.resolve('"2"')
    await settled()
    // The switch has made a version of its account without touching these fields.
    show('Two', '"3"')
    await save()
    answer.resolve('"4"')
    await settled()
    assert.deepEqual(sent, ['Two "1"', 'Three "3"'])
  })

  it('have nothing to save once they say again what was there', () => {
    show('Three', '"4"')
    assert.ok(type('Four').includes('[Save]'))
    assert.ok(type('Three').includes('(Save)'))
  })
})
