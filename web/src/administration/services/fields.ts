/** The fields of a service. `lastDay` is the API's `endsAtUtc` as a day in the person's time zone. */
export const serviceFields = {
  clientId: {
    label: 'Client ID',
    isRequired: true,
    hint: 'A letter first, then letters, digits and . _ -. It cannot be changed later.',
  },
  name: { label: 'Name', hint: 'What people call it.' },
  lastDay: {
    label: 'Expires',
    type: 'date',
    hint: 'The service can’t sign in after this day. Leave empty for no end date.',
  },
} as const
