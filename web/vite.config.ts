import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Where the service listens while its web app is served by vite (`npm run dev`). */
const service = process.env.SERVICE_URL ?? 'http://localhost:8080'
const servicePaths = [
  '/v1',
  '/health',
  '/.well-known',
  '/openapi',
  '/scalar',
  '/verify',
  '/auditing',
  '/problems',
  '/assets',
]

// biome-ignore lint/style/noDefaultExport: vite reads the default export
export default defineConfig({
  plugins: [react()],
  css: {
    postcss: {
      plugins: [
        {
          // A font that comes too late for the first look is used from the next page load on. The package of
          // the font would swap it in, and headings would wrap differently under the reader's eyes.
          postcssPlugin: 'fonts-never-swap',
          Declaration: {
            'font-display': (declaration) => {
              declaration.value = 'optional'
            },
          },
        },
      ],
    },
  },
  build: {
    target: 'baseline-widely-available',
    // Everything is a separate file: the content security policy allows no inline script or style.
    assetsInlineLimit: 0,
    // A single style sheet: if one for a single view failed to load, it would not be requested again.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'] },
            // Sheets bring the reader of CSV files along, and few people open them.
            { name: 'orders', test: /\/web\/src\/(?:orders(?!\/sheet)|overview|ui)\// },
            { name: 'administration', test: /\/web\/src\/(?:account|administration|log|policy)\// },
          ],
        },
      },
    },
  },
  server: {
    host: 'localhost',
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(servicePaths.map((path) => [path, { target: service, changeOrigin: false }])),
  },
})
