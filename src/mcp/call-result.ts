// The result of an MCP tool, prompt or resource as the model reads it.
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { ContentPart } from "../core/message.ts";
import type { ToolResult } from "../core/tool/tool.ts";

const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function textPart(text: string): ContentPart {
  return { type: "text", text };
}

function imagePart(data: string, mimeType: string): ContentPart {
  if (!IMAGE_TYPES.includes(mimeType)) return textPart(`[an image of type ${mimeType}, which models cannot read]`);
  return { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } };
}

function resourcePart(resource: { uri: string; mimeType?: string | undefined; text?: string; blob?: string }) {
  if (resource.text !== undefined) return textPart(`[resource ${resource.uri}]\n${resource.text}`);
  const type = resource.mimeType ?? "application/octet-stream";
  if (resource.blob !== undefined && type.startsWith("image/")) return imagePart(resource.blob, type);
  return textPart(`[resource ${resource.uri}: ${type}, not text]`);
}

export function contentPart(block: ContentBlock): ContentPart {
  switch (block.type) {
    case "text":
      return textPart(block.text);
    case "image":
      return imagePart(block.data, block.mimeType);
    case "audio":
      return textPart(`[audio of type ${block.mimeType}, which models cannot hear]`);
    case "resource_link":
      return textPart(`[resource ${block.uri}${block.description ? `: ${block.description}` : ""}]`);
    case "resource":
      return resourcePart(block.resource as Parameters<typeof resourcePart>[0]);
    default:
      return textPart(`[content of an unknown type]`);
  }
}

/** Text alone stays a string. */
export function joinParts(parts: readonly ContentPart[]): string | readonly ContentPart[] {
  if (parts.some((part) => part.type !== "text")) return parts;
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** Servers repeat structured content as text for older clients; it is added only where they do not. */
export function toToolResult(result: CallToolResult, origin: string): ToolResult {
  const parts = (result.content ?? []).map(contentPart);
  const { structuredContent } = result;
  const hasText = parts.some((part) => part.type === "text" && part.text.trim() !== "");
  if (structuredContent !== undefined && !hasText) parts.push(textPart(JSON.stringify(structuredContent)));
  const content = parts.length === 0 ? "(the tool returned nothing)" : joinParts(parts);
  return { content, failed: result.isError ?? false, trust: "untrusted", origin };
}
