/** The fields of a service. `lastDay` is the API's `endsAtUtc` as a day in the person's time zone. */
export const serviceFields = {
  clientId: {
    label: 'Client ID',
    missing: 'Enter a client ID.',
    hint: 'A to Z first, then A to Z, digits and . _ -. It cannot be changed later.',
  },
  displayName: { label: 'Name', hint: 'A name for people to read.' },
  owner: {
    label: 'Owner',
    hint: 'Email or user name of the person who counts as the creator of this service’s orders. Leave empty for no owner.',
  },
  lastDay: {
    label: 'Expires',
    type: 'date',
    max: '9999-12-31',
    hint: 'The service can’t sign in after this day. Leave empty for no end date.',
  },
} as const
