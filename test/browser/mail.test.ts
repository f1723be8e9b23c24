import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { newUser, signIn as signInOf, type TestUser } from '../support/accounts.ts'
import {
  heading,
  nameCard,
  signInHeading,
  waitForAddress,
  waitForFocus,
} from '../support/browser/journeys.ts'
import { lookAt, type Views } from '../support/browser/looks.ts'
import { openBrowser, screenshot, signIn } from '../support/browser/person.ts'
import { button } from '../support/browser/question.ts'
import { noteSecret } from '../support/discretion.ts'
import { mailSettings, postOf, type ReceivedMail, startMailServer, tokenIn } from '../support/mail.ts'
import { createdId } from '../support/orders.ts'
import { publicUrl, startService } from '../support/service.ts'

const browser = openBrowser()
const newPassword = 'seven grey herons by the weir'
const service = await startService({ inside: true, clockRuns: true, env: mailSettings, until: { after } })
const server = await startMailServer()
after(() => server.close())
const post = postOf(service, server, 'UTC')

describe('a forgotten password', () => {
  const person = browser.stayingPerson({ service })

  // Nobody has signed in to this browser yet.
  it('is asked for on pages that are accessible in both themes and widths', async (t) => {
    const views: Views = {
      async 'sign-in-mail'({ page }) {
        await page.goto('/sign-in')
        await page.getByRole('link', { name: 'Forgot your password?' }).waitFor()
      },
      async forgotten({ page }) {
        await page.goto('/forgotten')
        await page.getByLabel('Email').waitFor()
      },
      async 'forgotten-sent'({ page }) {
        await page.getByLabel('Email').fill('nobody@example.com')
        await button(page, 'Send link').click()
        await page.getByText('Check your mail').waitFor()
      },
    }
    await lookAt(t, person, views)
    await person.page.setViewportSize({ width: 1280, height: 800 })
  })

  it('is replaced by a link in a mail, by keyboard alone', async () => {
    const user = await newUser(service)
    const { page } = person
    await page.goto('/orders')
    await signInHeading(page).waitFor()
    await page.getByRole('link', { name: 'Forgot your password?' }).press('Enter')
    await heading(page, 'Forgot your password?').waitFor()
    await waitForFocus(page.getByLabel('Email'))
    await page.keyboard.type(user.email)
    await page.keyboard.press('Enter')
    await page.getByText('Check your mail').waitFor()

    await post.sendAll()
    const [mail] = server.received()
    assert.deepEqual(mail?.to, [user.email])
    noteSecret(tokenIn(mail as ReceivedMail))
    const [, link = ''] = /\n(https:\S+\/link#\S+)\n/.exec(mail?.text ?? '') ?? []
    await page.goto(link.replace(publicUrl, ''))
    await heading(page, 'Set your password').waitFor()
    assert.equal(await page.getByLabel('Email').inputValue(), user.email)
    await page.getByLabel('New password').focus()
    await page.keyboard.type(newPassword)
    await page.getByText('Good: hard to guess.').first().waitFor()
    await page.keyboard.press('Enter')
    await nameCard(page, user.userName).waitFor()
    await waitForAddress(person, '/')
  })

  it('shows the mail in a browser as it was written', async () => {
    const user = await newUser(service)
    await service.client().post('/v1/auth/links', { email: user.email })
    await post.sendAll()
    const [mail] = server.received()
    noteSecret(tokenIn(mail as ReceivedMail))
    const { page } = person
    await page.goto('about:blank')
    await page.setContent(mail?.html ?? '')
    const shown = page.getByRole('link', { name: 'Set a new password' })
    assert.ok((await shown.getAttribute('href'))?.startsWith(`${publicUrl}/link#token=`))
    await screenshot(page, 'mail-forgotten')
  })
})

describe('my email', () => {
  const person = browser.stayingPerson({ service })

  /** The token of the link to another email, which was asked for in a sign-in that has ended. */
  async function newEmailToken(user: TestUser): Promise<string> {
    const other = await signInOf(service, user)
    await other.send('PUT', '/v1/auth/email', { email: `new-${user.email}` })
    await other.post('/v1/auth/session/logout')
    await post.sendAll()
    const token =
      server
        .received()
        .map(tokenIn)
        .find((found) => found !== '') ?? ''
    noteSecret(token)
    return token
  }

  it('is changed under My account, once the link to the new address is confirmed', async () => {
    const user = await newUser(service)
    const email = `new-${user.email}`
    const { page } = person
    await signIn(person, user)
    await page.goto('/account')
    await page.getByLabel('New email').fill(email)
    await button(page, 'Send link').click()
    await page.getByText(`A link is on its way to ${email}.`).waitFor()

    await post.sendAll()
    const mail = server.received().find(({ to }) => to.includes(email))
    noteSecret(tokenIn(mail as ReceivedMail))
    const [, link = ''] = /\n(https:\S+\/new-email#\S+)\n/.exec(mail?.text ?? '') ?? []
    await page.goto(link.replace(publicUrl, ''))
    await heading(page, 'Confirm your email').waitFor()
    await button(page, 'Confirm email').click()
    await page.getByText('Enter your password.').waitFor()
    person.expectFault(/ 403 .*\/v1\/auth\/email\/use/)
    await page.keyboard.type('not the password')
    await page.keyboard.press('Enter')
    await page.getByText('Wrong password.').waitFor()
    await page.keyboard.type(user.password)
    await page.keyboard.press('Enter')
    await page.getByText('Your email has been changed.').waitFor()
    await page.getByRole('link', { name: 'My account' }).click()
    await page.getByRole('region', { name: 'About you' }).getByText(email, { exact: true }).waitFor()
    await post.sendAll()
    assert.ok(server.received().some(({ to }) => to.includes(user.email)))
  })

  it('stays as it is if the person signs out everywhere else, also where nobody else is signed in', async () => {
    const user = await newUser(service)
    const { page } = person
    const token = await newEmailToken(user)
    await signIn(person, user)
    await page.goto('/account')
    await button(page, 'Sign out everywhere else').click()
    await page.getByText('You are signed out everywhere else.').first().waitFor()
    person.expectFault(/ 404 .*\/v1\/auth\/links\/check/)
    await page.goto(`/new-email#token=${token}&email=new-${user.email}`)
    await page.getByText('The link is not valid').waitFor()
  })

  it('is confirmed on a page that is accessible in both themes and widths', async (t) => {
    const token = await newEmailToken(await newUser(service))
    const views: Views = {
      async 'new-email'({ page }) {
        await page.goto(`/new-email#token=${token}&email=new%40example.com`)
        await button(page, 'Confirm email').waitFor()
      },
    }
    await lookAt(t, person, views)
  })
})

describe('the mail settings of my account', () => {
  const person = browser.stayingPerson({ service })

  it('are accessible in both themes and widths, kept, and lead to a mail that says what waits', async (t) => {
    const user = await newUser(service, { roles: ['Admin'] })
    const { page } = person
    await signIn(person, user)
    const mail = page.getByRole('region', { name: 'Mail' })
    const views: Views = {
      async 'account-mail'() {
        await page.goto('/account')
        await mail.getByText('Once a day').click()
        await mail.getByLabel('Time').waitFor()
      },
    }
    await lookAt(t, person, views)
    await mail.getByLabel('Time').selectOption('17:00')
    await mail.getByLabel('Mail me when an order I created').check()
    await button(page, 'Save').click()
    await page.getByText('Mail settings saved').first().waitFor()
    await page.reload()
    await mail.getByText('In the time zone of your account, UTC.').waitFor()
    assert.equal(await mail.getByLabel('Time').inputValue(), '17')
    assert.ok(await mail.getByLabel('Mail me when an order I created').isChecked())
    await createdId(await service.bearer('operator'), { customer: 'Acme', total: 1250.5 })
    service.advance(25 * 3_600_000)
    await post.sendAll()
    const digest = server.received().find(({ to }) => to.includes(user.email))
    assert.match(digest?.headers.subject ?? '', /^\d+ orders? waits? for your approval$/)
    await page.goto('about:blank')
    await page.setContent(digest?.html ?? '')
    await page.getByRole('link', { name: 'Review' }).waitFor()
    await screenshot(page, 'mail-digest')
  })
})
