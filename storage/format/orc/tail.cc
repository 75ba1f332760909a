#include "storage/format/orc/tail.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/orc/chunks.h"
#include "storage/format/orc/errors.h"
#include "storage/format/orc/orc.pb.h"
#include "storage/format/orc/statistics.h"
#include "storage/format/orc/types.h"
#include "storage/format/orc/wire_scan.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

constexpr std::string_view kMagic = "ORC";
constexpr uint64_t kTailGuess = 16 << 10;
constexpr uint64_t kDefaultBlock = 256 << 10;
constexpr uint64_t kMaxBlock = 1 << 23;
constexpr uint64_t kMaxSection = std::numeric_limits<int32_t>::max();
constexpr uint64_t kMaxStripeRows = std::numeric_limits<int32_t>::max();
// A damaged or hostile footer must not make us allocate: what one may hold, decompressed.
constexpr size_t kMaxDecoded = 256 << 20;
constexpr size_t kMaxColumns = 1 << 17;
constexpr size_t kMaxStripes = 1 << 20;
constexpr size_t kMaxUserMetadata = 1 << 16;
constexpr size_t kMaxStripeStatistics = 1 << 19;

constexpr std::array<std::string_view, 6> kCompressionNames{
    "none", "zlib", "snappy", "lzo", "lz4", "zstd"};

size_t DecodedLimit(uint64_t encoded) {
  return static_cast<size_t>(std::min<uint64_t>(kMaxDecoded, (1 << 20) + encoded * 256));
}

// The bytes of the tail and where they lie.
struct Sections {
  uint64_t length = 0;     // of the file as looked at
  std::string bytes;       // its last bytes
  uint64_t ps_length = 0;  // postscript

  uint64_t start() const { return length - bytes.size(); }
  std::string_view Slice(uint64_t from, uint64_t size) const {
    return std::string_view(bytes).substr(static_cast<size_t>(from - start()),
                                          static_cast<size_t>(size));
  }
};

absl::Status ReadEnd(const fs::RandomAccessFile& file, uint64_t wanted, Sections* tail) {
  tail->bytes.resize(static_cast<size_t>(std::min(wanted, tail->length)));
  return file.ReadAt(static_cast<int64_t>(tail->start()),
                     static_cast<int64_t>(tail->bytes.size()),
                     tail->bytes.data());
}

absl::StatusOr<bool> StartsWithMagic(const fs::RandomAccessFile& file) {
  std::array<char, kMagic.size()> head{};
  SKEP_RETURN_IF_ERROR(file.ReadAt(0, static_cast<int64_t>(head.size()), head.data()));
  return std::string_view(head.data(), head.size()) == kMagic;
}

// A file that begins as ORC but does not end as one was cut off or is still being written.
absl::Status NoTail(const fs::RandomAccessFile& file, uint64_t length, std::string_view what) {
  const absl::StatusOr<bool> magic = StartsWithMagic(file);
  if (magic.ok() && *magic) {
    return CorruptFile(file.path(),
                       "truncated: the file starts as ORC but does not end with an ORC tail (" +
                           std::string(what) + ")",
                       length);
  }
  return CorruptFile(file.path(), "not an ORC file: " + std::string(what), length);
}

absl::StatusOr<proto::PostScript> ReadPostScript(const fs::RandomAccessFile& file, Sections* tail) {
  const std::string& path = file.path();
  if (tail->length <= kMagic.size()) {
    return CorruptFile(path, "not an ORC file: " + std::to_string(tail->length) + " bytes", 0);
  }
  SKEP_RETURN_IF_ERROR(ReadEnd(file, kTailGuess, tail));
  tail->ps_length = static_cast<uint8_t>(tail->bytes.back());
  if (tail->ps_length == 0 || tail->ps_length + 1 > tail->length) {
    return NoTail(
        file, tail->length, "postscript of " + std::to_string(tail->ps_length) + " bytes");
  }
  const std::string_view bytes = tail->Slice(tail->length - 1 - tail->ps_length, tail->ps_length);
  if (!bytes.ends_with(kMagic)) {
    // Hive 0.11 wrote the magic at the start of the file only, and a short postscript.
    SKEP_ASSIGN_OR_RETURN(const bool magic, StartsWithMagic(file));
    if (!magic) return NoTail(file, tail->length, "no magic");
  }
  proto::PostScript postscript;
  if (!postscript.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !postscript.has_footer_length()) {
    return NoTail(file, tail->length, "postscript does not parse");
  }
  return postscript;
}

absl::Status TakePostScript(const fs::RandomAccessFile& file,
                            const proto::PostScript& ps,
                            Tail* out) {
  const std::string& path = file.path();
  out->version.assign(ps.version().begin(), ps.version().end());
  if (out->version.size() != 2) out->version = {0, 11};
  if (out->version[0] != 0 || (out->version[1] != 11 && out->version[1] != 12)) {
    return UnsupportedFile(path,
                           "ORC format version " + std::to_string(out->version[0]) + "." +
                               std::to_string(out->version[1]));
  }
  if (ps.compression() >= kCompressionNames.size()) {
    return UnsupportedFile(path,
                           ps.compression() == 6
                               ? "brotli compression"
                               : "compression " + std::to_string(ps.compression()));
  }
  out->compression = static_cast<Compression>(ps.compression());
  if (out->compression == Compression::kLzo) return UnsupportedFile(path, "lzo compression");
  out->block_size = ps.compression_block_size();
  if (out->compression != Compression::kNone) {
    if (out->block_size == 0) out->block_size = kDefaultBlock;
    if (out->block_size > kMaxBlock) {
      return CorruptFile(path,
                         "compression block of " + std::to_string(out->block_size) + " bytes",
                         out->file_length);
    }
  }
  out->writer_version = ps.writer_version();
  return absl::OkStatus();
}

absl::Status CheckCounts(std::string_view footer, uint64_t file_length) {
  const absl::StatusOr<FieldCounts> counts = CountFields(footer);
  if (!counts.ok()) return counts.status();
  if (counts->Of(4) > kMaxColumns || counts->Of(7) > kMaxColumns ||
      counts->Of(5) > kMaxUserMetadata ||
      counts->Of(3) > std::min<uint64_t>(kMaxStripes, file_length)) {
    return MakeError(ErrorReason::kCorruptFile, "footer holds more entries than a file can have");
  }
  return absl::OkStatus();
}

absl::Status TakeStripes(const std::string& path,
                         const proto::Footer& footer,
                         uint64_t body,
                         Tail* out) {
  for (const proto::StripeInformation& info : footer.stripes()) {
    if (info.has_encrypt_stripe_id() || info.encrypted_local_keys_size() > 0) out->encrypted = true;
    const Stripe stripe{info.offset(),
                        info.index_length(),
                        info.data_length(),
                        info.footer_length(),
                        info.number_of_rows()};
    uint64_t end = stripe.offset;
    for (const uint64_t part : {stripe.index_length, stripe.data_length, stripe.footer_length}) {
      if (part > body || end > body || end + part > body) {
        return CorruptFile(
            path,
            "stripe " + std::to_string(out->stripes.size()) + " reaches behind the file's end",
            stripe.offset);
      }
      end += part;
    }
    if (stripe.rows > kMaxStripeRows) {
      return CorruptFile(path, "stripe of " + std::to_string(stripe.rows) + " rows", stripe.offset);
    }
    out->stripes.push_back(stripe);
  }
  return absl::OkStatus();
}

absl::Status TakeFooter(const std::string& path,
                        const proto::Footer& footer,
                        uint64_t body,
                        Tail* out) {
  out->content_length = footer.content_length();
  out->rows = footer.number_of_rows();
  if (footer.has_row_index_stride()) out->row_index_stride = footer.row_index_stride();
  out->writer = footer.writer();
  out->software_version = footer.software_version();
  if (footer.calendar() <= static_cast<uint32_t>(Calendar::kProleptic)) {
    out->calendar = static_cast<Calendar>(footer.calendar());
  }
  out->encrypted = footer.has_encryption();
  SKEP_RETURN_IF_ERROR(TakeStripes(path, footer, body, out));
  if (out->encrypted) return UnsupportedFile(path, "column encryption");
  if (out->rows > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return CorruptFile(path, "footer of " + std::to_string(out->rows) + " rows", body);
  }
  absl::StatusOr<std::vector<TypeNode>> types = ParseTypes(footer);
  if (!types.ok()) return AtFile(types.status(), path, body);
  if (types->empty()) return CorruptFile(path, "footer without types", body);
  out->types = *std::move(types);
  out->root = TreeOf(out->types, 0);
  for (const proto::UserMetadataItem& item : footer.metadata()) {
    out->user_metadata[item.name()] = item.value();
  }
  if (footer.statistics_size() == static_cast<int>(out->types.size())) {
    for (const proto::ColumnStatistics& statistics : footer.statistics()) {
      out->file_statistics.push_back(FromProto(statistics));
    }
  }
  return absl::OkStatus();
}

// Statistics help to skip, nothing more: damage here means that there are none.
void TakeStripeStatistics(std::string_view section, Tail* out) {
  if (section.empty() || out->stripes.size() * out->types.size() > kMaxStripeStatistics) return;
  const absl::StatusOr<std::string> bytes =
      DecodeSection(out->compression, out->block_size, section, DecodedLimit(section.size()));
  if (!bytes.ok()) return;
  const absl::StatusOr<FieldCounts> counts = CountFields(*bytes, 1);
  if (!counts.ok() || counts->Of(1) != out->stripes.size() ||
      counts->inner != out->stripes.size() * out->types.size()) {
    return;
  }
  proto::Metadata metadata;
  if (!metadata.ParseFromString(*bytes)) return;
  std::vector<std::vector<ColumnStatistics>> all;
  for (const proto::StripeStatistics& stripe : metadata.stripe_statistics()) {
    if (stripe.column_statistics_size() != static_cast<int>(out->types.size())) return;
    std::vector<ColumnStatistics>& columns = all.emplace_back();
    for (const proto::ColumnStatistics& statistics : stripe.column_statistics()) {
      columns.push_back(FromProto(statistics));
    }
  }
  out->stripe_statistics = std::move(all);
}

}  // namespace

std::string_view CompressionName(Compression compression) {
  return kCompressionNames[static_cast<size_t>(compression)];
}

absl::StatusOr<Compression> ParseCompression(std::string_view text) {
  const std::string lower = AsciiLower(text);
  for (size_t i = 0; i < kCompressionNames.size(); ++i) {
    if (lower == kCompressionNames[i]) return static_cast<Compression>(i);
  }
  return MakeError(
      ErrorReason::kInvalidRequest,
      "compression \"" + std::string(text) + "\" is unknown: none, zlib, snappy, lz4 or zstd",
      {{"field", "orc.compress"}});
}

Calendar Tail::EffectiveCalendar() const {
  if (calendar != Calendar::kUnknown) return calendar;
  constexpr uint32_t kJava = 0;
  constexpr uint32_t kLastHybridVersion = 6;
  return writer == kJava && writer_version <= kLastHybridVersion ? Calendar::kJulianGregorian
                                                                 : Calendar::kProleptic;
}

absl::StatusOr<Tail> ReadTail(const fs::RandomAccessFile& file, int64_t length) {
  const std::string& path = file.path();
  if (length < 0 || length > file.size()) {
    return CorruptFile(path,
                       "truncated: " + std::to_string(length) + " bytes are expected, " +
                           std::to_string(file.size()) + " are there",
                       static_cast<uint64_t>(file.size()));
  }
  Tail out;
  out.file_length = static_cast<uint64_t>(length);
  out.root.kind = TypeKind::kStruct;
  if (length == 0) return out;  // a valid empty file without a schema

  Sections tail;
  tail.length = out.file_length;
  SKEP_ASSIGN_OR_RETURN(const proto::PostScript ps, ReadPostScript(file, &tail));
  SKEP_RETURN_IF_ERROR(TakePostScript(file, ps, &out));
  const uint64_t end = tail.length - 1 - tail.ps_length;
  uint64_t body = end;
  for (const uint64_t part :
       {ps.footer_length(), ps.metadata_length(), ps.stripe_statistics_length()}) {
    if (part > kMaxSection || part > body) {
      return NoTail(file, tail.length, "a tail of more bytes than the file has");
    }
    body -= part;
  }
  const uint64_t footer_at = end - ps.footer_length();
  const uint64_t metadata_at = footer_at - ps.metadata_length();
  if (metadata_at < tail.start())
    SKEP_RETURN_IF_ERROR(ReadEnd(file, tail.length - metadata_at, &tail));

  const absl::StatusOr<std::string> bytes = DecodeSection(out.compression,
                                                          out.block_size,
                                                          tail.Slice(footer_at, ps.footer_length()),
                                                          DecodedLimit(ps.footer_length()));
  if (!bytes.ok()) return AtFile(Annotate(bytes.status(), "footer"), path, footer_at);
  if (absl::Status counts = CheckCounts(*bytes, out.file_length); !counts.ok()) {
    return AtFile(counts, path, footer_at);
  }
  proto::Footer footer;
  if (!footer.ParseFromString(*bytes)) return CorruptFile(path, "footer does not parse", footer_at);
  SKEP_RETURN_IF_ERROR(TakeFooter(path, footer, body, &out));
  TakeStripeStatistics(tail.Slice(metadata_at, ps.metadata_length()), &out);
  return out;
}

}  // namespace skep::orc
