#include "storage/format/orc/transcode.h"

#include <algorithm>
#include <map>
#include <optional>

#include "storage/base/status_macros.h"
#include "storage/format/orc/chunks.h"
#include "storage/format/orc/rle_encode.h"
#include "storage/format/orc/statistics.h"
#include "storage/format/orc/stripe.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

absl::Status Broken(std::string_view what) {
  return MakeError(ErrorReason::kInternal, "the ORC adapter wrote " + std::string(what));
}

struct OutStream {
  StreamKind kind;
  uint32_t column;
  std::string bytes;
};

// One encoded SECONDARY stream and the positions of its row groups.
struct Secondary {
  std::string bytes;
  std::vector<std::vector<uint64_t>> positions;
};

class Transcoder {
 public:
  Transcoder(const fs::RandomAccessFile& file,
             const PhysicalWriterSchema& schema,
             const PhysicalConverter& collected)
      : file_(file), schema_(schema), collected_(collected) {}

  absl::StatusOr<FinishedStripe> Run() {
    SKEP_ASSIGN_OR_RETURN(tail_, ReadTail(file_, file_.size()));
    if (tail_.stripes.size() != 1 || tail_.types.size() != schema_.columns().size() ||
        tail_.file_statistics.size() != tail_.types.size()) {
      return Broken("a file of another shape");
    }
    SKEP_ASSIGN_OR_RETURN(layout_, ReadStripeLayout(file_, tail_, 0));
    for (uint32_t id = 0; id < schema_.columns().size(); ++id) {
      if (schema_.columns()[id].role == PhysicalRole::kUnionTag)
        tag_of_[schema_.columns()[id].target] = id;
    }
    // Index streams first, then data: the order in which readers expect the two areas.
    for (uint32_t id = 0; id < schema_.columns().size(); ++id) SKEP_RETURN_IF_ERROR(Index(id));
    const size_t index_streams = out_.size();
    for (const StreamRange& stream : layout_.streams) SKEP_RETURN_IF_ERROR(Data(stream));
    return Assemble(index_streams);
  }

 private:
  bool compressed() const { return tail_.compression != Compression::kNone; }
  // Numbers of a position in a run-length stream.
  int run_positions() const { return compressed() ? 3 : 2; }

  const PhysicalColumn& Column(uint32_t id) const { return schema_.columns()[id]; }
  bool IsOwn(uint32_t id) const {  // has an entry of its own in the final file
    return Column(id).role != PhysicalRole::kDropped && Column(id).role != PhysicalRole::kUnionTag;
  }

  absl::StatusOr<std::string> Read(const StreamRange& stream) const {
    std::string bytes(static_cast<size_t>(stream.length), '\0');
    SKEP_RETURN_IF_ERROR(file_.ReadAt(
        static_cast<int64_t>(stream.offset), static_cast<int64_t>(stream.length), bytes.data()));
    return bytes;
  }

  absl::StatusOr<std::optional<proto::RowIndex>> ReadIndex(uint32_t id) const {
    const StreamRange* stream = layout_.Find(id, StreamKind::kRowIndex);
    if (stream == nullptr) return std::optional<proto::RowIndex>();
    SKEP_ASSIGN_OR_RETURN(const std::string section, Read(*stream));
    SKEP_ASSIGN_OR_RETURN(const std::string bytes,
                          DecodeSection(tail_.compression, tail_.block_size, section, 1 << 30));
    proto::RowIndex index;
    if (!index.ParseFromString(bytes)) return Broken("a row index that does not parse");
    return std::optional<proto::RowIndex>(std::move(index));
  }

  TextBounds Text(uint32_t column) const {
    return collected_.has_nul(column) ? TextBounds::kDrop : TextBounds::kTrusted;
  }

  // Values [from, from + count) of a timestamp column.
  void SetTimes(uint32_t column,
                size_t from,
                size_t count,
                proto::ColumnStatistics* statistics) const {
    statistics->clear_int_statistics();
    if (count == 0) return;
    const auto first = collected_.times(column).utc_ms.begin() + static_cast<ptrdiff_t>(from);
    const auto [low, high] = std::minmax_element(first, first + static_cast<ptrdiff_t>(count));
    statistics->mutable_timestamp_statistics()->set_minimum_utc(*low);
    statistics->mutable_timestamp_statistics()->set_maximum_utc(*high);
  }

  absl::Status Index(uint32_t id) {
    if (!IsOwn(id)) return absl::OkStatus();
    const uint32_t target = Column(id).target;
    SKEP_ASSIGN_OR_RETURN(std::optional<proto::RowIndex> index, ReadIndex(id));
    if (Column(id).role == PhysicalRole::kTimestamp) {
      SKEP_RETURN_IF_ERROR(EncodeSecondary(target, index ? &*index : nullptr));
    }
    if (!index) return absl::OkStatus();
    if (Column(id).role == PhysicalRole::kUnion)
      SKEP_RETURN_IF_ERROR(AddTagPositions(tag_of_[target], &*index));
    for (proto::RowIndexEntry& entry : *index->mutable_entry()) {
      Clean(Text(target), entry.mutable_statistics());
    }
    SKEP_ASSIGN_OR_RETURN(
        std::string bytes,
        EncodeSection(tail_.compression, tail_.block_size, index->SerializeAsString()));
    out_.push_back({StreamKind::kRowIndex, target, std::move(bytes)});
    return absl::OkStatus();
  }

  // A run of codes ends with its row group, so that a position never skips values.
  absl::Status EncodeSecondary(uint32_t column, proto::RowIndex* index) {
    const std::vector<uint64_t>& codes = collected_.times(column).codes;
    std::string plain;
    std::vector<uint64_t> starts;  // in `plain`, by row group
    size_t at = 0;
    const int groups = index == nullptr ? 0 : index->entry_size();
    for (int g = 0; g < groups; ++g) {
      proto::ColumnStatistics* statistics = index->mutable_entry(g)->mutable_statistics();
      const auto count = static_cast<size_t>(statistics->number_of_values());
      if (count > codes.size() - at) return Broken("a row index with too many values");
      starts.push_back(plain.size());
      EncodeUnsignedRuns(std::span(codes).subspan(at, count), &plain);
      SetTimes(column, at, count, statistics);
      at += count;
    }
    if (index == nullptr) {
      EncodeUnsignedRuns(codes, &plain);
      at = codes.size();
    }
    if (at != codes.size()) return Broken("a row index with too few values");
    std::string framed;
    std::vector<uint64_t> chunk_at;  // where each block's chunk starts in `framed`
    const auto block = static_cast<size_t>(tail_.block_size);
    if (compressed()) {
      for (size_t from = 0; from < plain.size(); from += block) {
        chunk_at.push_back(framed.size());
        SKEP_ASSIGN_OR_RETURN(
            const std::string chunk,
            EncodeSection(
                tail_.compression, tail_.block_size, std::string_view(plain).substr(from, block)));
        framed += chunk;
      }
      chunk_at.push_back(framed.size());
    } else {
      framed = plain;
    }
    for (int g = 0; g < groups; ++g) {
      proto::RowIndexEntry* entry = index->mutable_entry(g);
      const uint64_t start = starts[static_cast<size_t>(g)];
      if (compressed()) {
        entry->add_positions(chunk_at[static_cast<size_t>(start / block)]);
        entry->add_positions(start % block);
      } else {
        entry->add_positions(start);
      }
      entry->add_positions(0);
    }
    secondary_[column] = std::move(framed);
    return absl::OkStatus();
  }

  absl::Status AddTagPositions(uint32_t tag, proto::RowIndex* index) const {
    SKEP_ASSIGN_OR_RETURN(const std::optional<proto::RowIndex> tags, ReadIndex(tag));
    if (!tags || tags->entry_size() != index->entry_size())
      return Broken("row indexes of unequal length");
    for (int g = 0; g < index->entry_size(); ++g) {
      const proto::RowIndexEntry& from = tags->entry(g);
      if (from.positions_size() < run_positions())
        return Broken("a row index entry without positions");
      for (int i = from.positions_size() - run_positions(); i < from.positions_size(); ++i) {
        index->mutable_entry(g)->add_positions(from.positions(i));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Data(const StreamRange& stream) {
    if (stream.kind >= StreamKind::kRowIndex) return absl::OkStatus();
    const PhysicalColumn& column = Column(stream.column);
    if (column.role == PhysicalRole::kDropped) return absl::OkStatus();
    // Of a union's tag only the values: what is present says the union.
    if (column.role == PhysicalRole::kUnionTag && stream.kind != StreamKind::kData)
      return absl::OkStatus();
    SKEP_ASSIGN_OR_RETURN(std::string bytes, Read(stream));
    out_.push_back({stream.kind, column.target, std::move(bytes)});
    if (column.role == PhysicalRole::kTimestamp && stream.kind == StreamKind::kData) {
      out_.push_back({StreamKind::kSecondary, column.target, std::move(secondary_[column.target])});
    }
    return absl::OkStatus();
  }

  absl::StatusOr<FinishedStripe> Assemble(size_t index_streams) {
    FinishedStripe done;
    proto::StripeFooter footer;
    for (size_t i = 0; i < out_.size(); ++i) {
      proto::Stream* stream = footer.add_streams();
      stream->set_kind(static_cast<uint32_t>(out_[i].kind));
      stream->set_column(out_[i].column);
      stream->set_length(out_[i].bytes.size());
      (i < index_streams ? done.lengths.index_length : done.lengths.data_length) +=
          out_[i].bytes.size();
      done.bytes += out_[i].bytes;
    }
    for (uint32_t id = 0; id < schema_.columns().size(); ++id) {
      if (!IsOwn(id)) continue;
      const bool is_union = Column(id).role == PhysicalRole::kUnion;
      proto::ColumnEncoding* encoding = footer.add_columns();
      encoding->set_kind(
          static_cast<uint32_t>(is_union ? EncodingKind::kDirect : layout_.encodings[id].kind));
      if (layout_.encodings[id].dictionary_size > 0) {
        encoding->set_dictionary_size(layout_.encodings[id].dictionary_size);
      }
      proto::ColumnStatistics statistics;
      if (!statistics.ParseFromString(tail_.file_statistics[id].raw))
        return Broken("damaged statistics");
      if (Column(id).role == PhysicalRole::kTimestamp) {
        SetTimes(
            Column(id).target, 0, collected_.times(Column(id).target).codes.size(), &statistics);
      }
      Clean(Text(Column(id).target), &statistics);
      done.statistics.push_back(std::move(statistics));
    }
    footer.set_writer_timezone("UTC");
    SKEP_ASSIGN_OR_RETURN(
        const std::string section,
        EncodeSection(tail_.compression, tail_.block_size, footer.SerializeAsString()));
    done.bytes += section;
    done.lengths.footer_length = section.size();
    done.lengths.rows = tail_.stripes[0].rows;
    return done;
  }

  const fs::RandomAccessFile& file_;
  const PhysicalWriterSchema& schema_;
  const PhysicalConverter& collected_;
  Tail tail_;
  StripeLayout layout_;
  std::map<uint32_t, uint32_t> tag_of_;        // union's final id → its tag's physical id
  std::map<uint32_t, std::string> secondary_;  // by final id, framed
  std::vector<OutStream> out_;
};

}  // namespace

absl::StatusOr<FinishedStripe> TranscodeStripe(const fs::RandomAccessFile& file,
                                               const PhysicalWriterSchema& schema,
                                               const PhysicalConverter& collected) {
  return Transcoder(file, schema, collected).Run();
}

}  // namespace skep::orc
