// Rasterises SVG files over white: node resvg.mjs SIZE FOLDER, FOLDER/*.svg to FOLDER/*.png.
import fs from 'node:fs'
import path from 'node:path'
import { Resvg } from '@resvg/resvg-js'

const [size, folder] = process.argv.slice(2)
for (const name of fs.readdirSync(folder).filter(f => f.endsWith('.svg'))) {
  const svg = fs.readFileSync(path.join(folder, name))
  const r = new Resvg(svg, { fitTo: { mode: 'width', value: Number(size) }, background: 'white', font: { loadSystemFonts: false } })
  fs.writeFileSync(path.join(folder, name.replace(/svg$/, 'png')), r.render().asPng())
}
