import { connect } from 'holdfast/connect';

/** What comes of a thread for renewal. */
export async function GET() {
  try {
    const locks = await connect(process.env.HOLDFAST_URL, { renewal: 'worker' });
    const held = await locks.mutex('thread').run((lease) => lease.held);
    await locks.close();
    return Response.json({ held });
  } catch ({ code, message }) {
    return Response.json({ code, message });
  }
}
