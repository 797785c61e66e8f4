/** Descriptions of the fields of a MediaJob, for `kubectl explain`, which shows descriptions but no bounds. */
import type { StructuralSchema } from '#crds/contract/structural-schema.ts';

/** Descriptions of fields whose schema has none, by path. Bounds that the schema has are added to them. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  spec: 'Work order of the job, written once by the recorder. Only suspend, inputSize and kind change, when the input is stored.',
  'spec.jobId': 'Id of the job in the API: job_ and 20 letters or digits.',
  'spec.operation': 'Operation of the job.',
  'spec.options': 'Options of the operation, with all defaults. docs/reference/options.md describes them.',
  'spec.options.image': 'Options for images.',
  'spec.options.image.format': 'Output format; original keeps that of the input.',
  'spec.options.image.quality': 'Visual quality on the scale of JPEG, 0 to 100.',
  'spec.options.image.resize': 'Box into which the image is shrunk; absent keeps the dimensions.',
  'spec.options.image.resize.mode': 'How the image fits the given width and height.',
  'spec.options.image.resize.width': 'Width of the box in pixels, 100 to 9999.',
  'spec.options.image.resize.height': 'Height of the box in pixels, 100 to 9999.',
  'spec.options.image.strip_metadata': 'Whether camera, location and software details are removed.',
  'spec.options.pdf': 'Options for PDFs.',
  'spec.options.pdf.quality': 'Quality of the images in the PDF; original keeps them.',
  'spec.options.video': 'Options for videos.',
  'spec.options.video.format': 'Container of the output.',
  'spec.options.video.codec': 'Codec of the video stream.',
  'spec.options.video.quality': 'Tier of quality.',
  'spec.options.video.resolution': 'Long side in pixels: 3840, 1920, 1280 or 854; absent keeps the dimensions.',
  'spec.options.audio': 'Options for audio.',
  'spec.options.audio.format': 'Output format; original keeps the codec.',
  'spec.options.audio.quality': 'Tier of quality, unused by lossless formats.',
  'spec.options.audio.channels': 'Channels of the output.',
  'spec.options.audio.strip_metadata': 'Whether tags such as title and artist are removed.',
  'spec.options.audio.bitrate_kbps': 'Bit rate that replaces that of the tier, 16 to 512.',
  'spec.options.audio.sample_rate_hz': 'Sample rate, 8000 to 192000; absent keeps that of the input.',
  'spec.options.convert': 'Options of the operation convert.',
  'spec.options.convert.to': 'Target format; absent for other operations.',
  'spec.options.convert.page': 'Page of a PDF that is rendered, from 1.',
  'spec.options.convert.dpi': 'Resolution of the rendered page, 36 to 600.',
  'spec.limits': "Limits of the account's plan.",
  'spec.limits.maxPages': 'Pages of a document.',
  'spec.limits.maxFrames': 'Frames of an animation.',
  'spec.features': 'Features of the account.',
  'spec.features.video': 'Whether videos are processed.',
  'spec.features.heicOutput': 'Whether HEIC may be written.',
  'spec.secretName': 'Secret of the attempts: file name, tokens and addresses.',
  status: 'State of the job, written by the controller. It never changes after phase Succeeded or Failed.',
  'status.phase': 'Phase of the job.',
  'status.percent': 'Progress of the current attempt.',
  'status.completedAt': 'Time of the final phase.',
  'status.reason': 'Reason of the current state in one word, from a closed set.',
  'status.message': 'Explanation of the reason, such as the message of Kubernetes about a pod.',
  'status.node': 'Node of the current or last attempt.',
  'status.report.result': "Result object of the API, without the job's links.",
  'status.report.result.kind': 'Kind of the content.',
  'status.report.result.input_format': 'Format of the input.',
  'status.report.result.output_format': 'Format of the output.',
  'status.report.result.original_size': 'Size of the input in bytes.',
  'status.report.result.output_size': 'Size of the output in bytes.',
  'status.report.result.savings_percent': 'Saved share of the size in percent; negative when the output is larger.',
  'status.report.result.kept_original': 'Whether the output is the input, because no smaller one was found.',
  'status.report.result.increased': 'Whether the output is larger than the input.',
  'status.report.result.width': 'Width of the output in pixels; absent except for images and video.',
  'status.report.result.height': 'Height of the output in pixels; absent except for images and video.',
  'status.report.result.pages': 'Pages of the input PDF; absent for other kinds.',
  'status.report.result.duration_seconds': 'Length of audio and video in seconds.',
  'status.report.result.video_codec': 'Codec of the video stream of the output.',
  'status.report.result.warnings': 'What callers should know about the result.',
  'status.report.inputSha256': 'SHA-256 of the input in hexadecimal.',
  'status.report.outputSha256': 'SHA-256 of the output in hexadecimal.',
  'status.report.tools': 'Versions of the tools that took part, by name.',
  'status.error.code': 'Error code of the API: docs/reference/errors.md.',
  'status.error.message': 'Message for the caller.',
  'status.observedGeneration': 'Generation of the spec that the status is about.',
  'status.conditions[].type': 'Condition.',
  'status.conditions[].status': 'Whether the condition holds.',
  'status.conditions[].observedGeneration': 'Generation of the spec that the condition is about.',
  'status.conditions[].lastTransitionTime': 'Time since which the condition has its status.',
  'status.conditions[].reason': 'Reason of the last transition in one word.',
  'status.conditions[].message': 'Explanation of the reason.',
};

/** Returns the schema with a description of each field below `path`, which names its bounds. */
export function describeFields(schema: StructuralSchema, path: string): StructuralSchema {
  const { properties, items, ...rest } = schema;
  const described = describe(rest, path);
  return {
    ...described,
    ...(properties === undefined ? {} : { properties: describeEach(properties as Properties, path) }),
    ...(items === undefined ? {} : { items: describeFields(items as StructuralSchema, `${path}[]`) }),
  };
}

type Properties = Readonly<Record<string, StructuralSchema>>;

function describeEach(properties: Properties, path: string): Properties {
  const entries = Object.entries(properties);
  return Object.fromEntries(entries.map(([name, field]) => [name, describeFields(field, `${path}.${name}`)]));
}

function describe(field: StructuralSchema, path: string): StructuralSchema {
  const text = (field['description'] as string | undefined) ?? DESCRIPTIONS[path];
  if (text === undefined) return field;
  const bounds = boundsOf(field);
  return { ...field, description: bounds === '' ? text : `${text} ${bounds}` };
}

/** Returns a sentence with the bounds of a number or a list; empty without any. */
function boundsOf(field: StructuralSchema): string {
  const { minimum, maximum, maxItems } = field as { minimum?: number; maximum?: number; maxItems?: number };
  if (maxItems !== undefined) return `At most ${maxItems}.`;
  if (minimum !== undefined && maximum !== undefined) return `From ${minimum} to ${maximum}.`;
  return minimum === undefined ? '' : `From ${minimum}.`;
}
