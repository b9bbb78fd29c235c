import type { Query } from '../../api/call.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount } from '../../api/session.ts';
import { accountPaths } from '../../paths.ts';
import { Button, LinkButton } from '../../ui/controls/button.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import {
  choiceFilter,
  type Filter,
  FilterBar,
  useUrlParameters,
  useFilters,
} from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { Images, SearchX, Star } from '../../ui/controls/icons.ts';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { Pager } from '../../ui/lists/pager.tsx';
import { galleryText } from './gallery-text.ts';
import { VideoGrid, VideoGridSkeleton } from './video-grid.tsx';

type GalleryQuery = Query<'/api/v1/gallery/videos'>;
type GalleryFilter = Filter<GalleryQuery>;

/** A whole page fits into one archive. */
const pageSize = 48;

export function GalleryPage() {
  const filters = useGalleryFilters();
  const state = useFilters<GalleryQuery>(filters);
  const cursor = useUrlParameters().get('cursor');
  const query = { limit: pageSize, ...state.query, ...(cursor !== undefined && { cursor }) };
  const videos = useRead('/api/v1/gallery/videos', query, { keeps: true });
  return (
    <Page lead={galleryText.lead}>
      <FilterBar state={state} />
      <Loaded of={videos} waiting={<VideoGridSkeleton />}>
        {({ videos: found, nextCursor }) => (
          <VideoGrid
            videos={found}
            empty={<NoVideos state={state} hasOlder={nextCursor !== null} />}
            // The links of all videos in sight may fail at the same time.
            onExpired={() => void videos.refetch({ cancelRefetch: false })}
          />
        )}
      </Loaded>
      <Pager nextCursor={videos.data?.nextCursor} what={galleryText.videos.toLowerCase()} />
    </Page>
  );
}

type NoVideosProps = {
  readonly state: ReturnType<typeof useFilters<GalleryQuery>>;
  readonly hasOlder: boolean;
};

function NoVideos({ state: { isFiltered, values, clear }, hasOlder }: NoVideosProps) {
  const { accountId } = useAccount();
  if (!isFiltered) {
    return (
      <Empty icon={Images} title={galleryText.emptyTitle} text={galleryText.empty}>
        <div class="row">
          <LinkButton href={accountPaths.playground(accountId)} variant="primary">
            {galleryText.playground}
          </LinkButton>
        </div>
      </Empty>
    );
  }
  const isOnlyFavorites = Object.entries(values).every(([name, value]) => value === '' || name === 'favorite');
  if (isOnlyFavorites) {
    return (
      <Empty icon={Star} title={galleryText.emptyFavoritesTitle} text={galleryText.emptyFavorites}>
        <div class="row">
          <Button onClick={clear}>{galleryText.showAll}</Button>
        </div>
      </Empty>
    );
  }
  return (
    <Empty
      icon={SearchX}
      title={hasOlder ? galleryText.noMatchHere : galleryText.noMatchTitle}
      text={hasOlder ? galleryText.searchOlder : undefined}
    >
      <div class="row">
        <Button onClick={clear}>{galleryText.clear}</Button>
      </div>
    </Empty>
  );
}

const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '9:21', '3:2', '2:3', '5:4', '4:5', 'adaptive'] as const;

function useGalleryFilters(): readonly GalleryFilter[] {
  const { get } = useUrlParameters();
  const [model, tag] = [get('model'), get('tag')];
  const models = (useRead('/api/v1/models', {}).data?.models ?? []).map((one) => one.model);
  const tags = useRead('/api/v1/gallery/tags', {}).data?.tags ?? [];
  return [
    {
      name: 'favorite',
      label: galleryText.views,
      control: 'tabs',
      options: [
        { value: '', label: galleryText.all },
        { value: 'true', label: galleryText.favorites },
      ],
      query: () => ({ favorite: true }),
    },
    { name: 'search', label: galleryText.search, query: (search: string) => ({ search }) },
    choiceFilter({
      name: 'model',
      label: galleryText.model,
      all: galleryText.allModels,
      values: models,
      given: model,
    }),
    choiceFilter({ name: 'ratio', label: galleryText.ratio, all: galleryText.allRatios, values: ratios }),
    choiceFilter({ name: 'tag', label: galleryText.tag, all: galleryText.allTags, values: tags, given: tag }),
  ];
}
