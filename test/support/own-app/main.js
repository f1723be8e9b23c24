/** As in docs/own-app.md: the page sends the readable cookie back. */
async function call(method, path, body) {
  if (!document.cookie.includes('XSRF-TOKEN')) await fetch('/v1/auth/csrf')
  const token = /(?:^|; )XSRF-TOKEN=([^;]*)/.exec(document.cookie)?.[1] ?? ''
  const answer = await fetch(path, {
    method,
    headers: { 'content-type': 'application/json', 'x-xsrf-token': decodeURIComponent(token) },
    body: body && JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return answer.status === 204 ? undefined : answer.json()
}

const output = document.querySelector('output')
try {
  const { email, password } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
  await call('POST', '/v1/auth/session', { email, password })
  const { id } = await call('POST', '/v1/orders', { customer: 'Acme', total: 12.5 })
  await call('PATCH', `/v1/orders/${id}/approve`)
  const { status, customer } = await call('GET', `/v1/orders/${id}`)
  output.textContent = `${customer} ${status === 1 ? 'is approved' : status}`
} catch (error) {
  output.textContent = error.message
}
